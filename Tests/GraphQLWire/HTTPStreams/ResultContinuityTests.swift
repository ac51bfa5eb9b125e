import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Cursors, readiness and gaps in the results of streamed responses.
@Suite struct ResultContinuityTests {
  typealias Action = SubscriptionServerAction
  static let here = Cursor(term: 0xf, offset: 7)
  static let all: [ResultContinuity] = [
    .event(here, endsTransaction: true), .event(here, endsTransaction: false), .ready(here), .ready(nil),
    .gap(SubscriptionGap(reason: "retention", from: nil, to: here)),
    .gap(SubscriptionGap(reason: "lineage", from: Cursor(term: 1, offset: 2), to: here)), .position(here),
  ]

  @Test(arguments: all) func `what is written is what is read`(said: ResultContinuity) {
    #expect(ResultContinuity(said.payload) == said)
  }

  @Test func `the members are those of the protocol document`() {
    func text(_ said: ResultContinuity) -> String { String(decoding: said.payload, as: UTF8.self) }
    #expect(text(.ready(Self.here)) == #"{"extensions":{"martlet":{"ready":{"cursor":"f-7"}}}}"#)
    #expect(
      text(.gap(SubscriptionGap(reason: "retention", from: nil, to: Self.here)))
        == #"{"extensions":{"martlet":{"gap":{"reason":"retention","from":null,"to":"f-7"}}}}"#)
    #expect(text(.position(Self.here)) == #"{"extensions":{"martlet":{"position":{"cursor":"f-7"}}}}"#)
  }

  @Test(arguments: [
    (#"{"data":{"a":1}}"#, #"{"data":{"a":1},"extensions":{"martlet":{"cursor":"f-7","partial":true}}}"#),
    ("{}", #"{"extensions":{"martlet":{"cursor":"f-7","partial":true}}}"#),
    (
      #"{"data":1,"extensions":{"cost":2}}"#,
      #"{"data":1,"extensions":{"cost":2,"martlet":{"cursor":"f-7","partial":true}}}"#
    ),
  ]) func `a result keeps what it has and gains its place`(result: String, marked: String) {
    let bytes = ResultContinuity.marked(Array(result.utf8), Self.here, endsTransaction: false)
    #expect(String(decoding: bytes, as: UTF8.self) == marked)
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"extensions":{}}"#, #"{"extensions":{"martlet":1}}"#,
    #"{"extensions":{"martlet":{"cursor":7}}}"#,
    #"{"extensions":{"martlet":{"gap":{"reason":"x"}}}}"#, #"{"extensions":{"martlet":{"cursor":"nonsense"}}}"#,
  ]) func `what says nothing is nothing`(text: String) {
    #expect(ResultContinuity(Array(text.utf8)) == nil)
  }

  // MARK: In a stream

  static func machine(_ media: HTTPStreamMedia, cursors: Bool = true) -> HTTPStreamMachine {
    HTTPStreamMachine(
      media, continuity: Continuity(cursors: cursors), heartbeatInterval: .seconds(10), positionInterval: .seconds(3),
      at: Instant(nanoseconds: 0))
  }

  static func run(_ machine: inout HTTPStreamMachine) -> String {
    var actions: [Action] = []
    machine.gap(1, SubscriptionGap(reason: "retention", from: nil, to: here), actions: &actions)
    machine.ready(1, here, actions: &actions)
    for ends in [false, true] {
      machine.next(
        1, payload: Array(#"{"data":1}"#.utf8), cursor: Cursor(term: 0xf, offset: ends ? 9 : 8), endsTransaction: ends,
        actions: &actions)
    }
    machine.reachedDeadline(at: Instant(nanoseconds: 0) + .seconds(3), actions: &actions)
    if actions.contains(.tellPosition) {
      machine.sendPosition(Cursor(term: 0xf, offset: 11), at: Instant(nanoseconds: 0) + .seconds(3), actions: &actions)
    }
    var text = ""
    for case .send(let piece) in actions { text += String(decoding: piece, as: UTF8.self) }
    return text
  }

  @Test func `an event stream names what can be resumed from, and no part of a transaction`() {
    var machine = Self.machine(.eventStream)
    let expected = """
      :

      id: f-7
      event: next
      data: {"extensions":{"martlet":{"gap":{"reason":"retention","from":null,"to":"f-7"}}}}

      id: f-7
      event: next
      data: {"extensions":{"martlet":{"ready":{"cursor":"f-7"}}}}

      event: next
      data: {"data":1,"extensions":{"martlet":{"cursor":"f-8","partial":true}}}

      id: f-9
      event: next
      data: {"data":1,"extensions":{"martlet":{"cursor":"f-9"}}}

      id: f-11
      event: next
      data: {"extensions":{"martlet":{"position":{"cursor":"f-11"}}}}


      """
    #expect(Self.run(&machine) == expected)
  }

  @Test func `a multipart body says the same in its parts`() throws {
    var machine = Self.machine(.multipart)
    var reader = try MultipartSubscription.Reader(contentType: MultipartSubscription.Writing.contentType)
    var messages: [MultipartSubscription.Message] = []
    try reader.receive(Array(Self.run(&machine).utf8), messages: &messages)
    let said = messages.compactMap { if case .payload(let payload) = $0 { ResultContinuity(payload) } else { nil } }
    #expect(
      said == [
        .gap(SubscriptionGap(reason: "retention", from: nil, to: Self.here)), .ready(Self.here),
        .event(Cursor(term: 0xf, offset: 8), endsTransaction: false),
        .event(Cursor(term: 0xf, offset: 9), endsTransaction: true), .position(Cursor(term: 0xf, offset: 11)),
      ])
  }

  @Test(arguments: HTTPStreamMedia.allCases) func `a client that did not negotiate gets none of it`(
    media: HTTPStreamMedia
  ) {
    var machine = Self.machine(media, cursors: false)
    let text = Self.run(&machine)
    #expect(!text.contains("martlet") && !text.contains("id:") && text.contains(#"{"data":1}"#))
  }

  // MARK: Asking again

  @Test func `the last event's id goes before the cursor of the request`() throws {
    let request = RequestPayload(query: "{a}", extensions: ["martlet": ["resume": "f-1", "cursors": true]])
    let again = try RequestContinuity(extensions: request.resuming(lastEventID: "f-7").extensions)
    #expect(again.resume == Self.here && again.cursors)
    #expect(request.resuming(lastEventID: "") == request)
    let lost = try RequestContinuity(extensions: request.resuming(lastEventID: "what?").extensions)
    #expect(lost.resume == Cursor(term: 0, offset: 0))
    let plain = RequestPayload(query: "{a}")
    #expect(plain.resuming(lastEventID: "what?") == plain)
    #expect(try RequestContinuity(extensions: plain.resuming(lastEventID: "f-7").extensions).resume == Self.here)
  }

  @Test func `the wish for cursors has to be a Boolean`() throws {
    #expect(try RequestContinuity(extensions: ["martlet": ["cursors": .null]]).cursors == false)
    #expect(throws: GraphQLRequestError.self) { try RequestContinuity(extensions: ["martlet": ["cursors": "yes"]]) }
    let wish = RequestContinuity(cursors: true).added(to: [:])
    #expect(wish == ["martlet": ["cursors": true]])
  }
}
