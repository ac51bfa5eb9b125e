import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletWire
import Testing

/// AppSync's subscription filters on real sockets: every operator, groups, and what is refused.
@Suite(.timeLimit(.minutes(1))) struct AppSyncFilterTests {
  private struct Note {
    var text: String
    var stars: Int
    var done: Bool
  }

  private static let notes = [
    Note(text: "apple pie", stars: 1, done: false), Note(text: "banana", stars: 3, done: true),
    Note(text: "pine", stars: 5, done: false),
  ]

  private static let schema = "type Note @model { id: ID! text: String stars: Int done: Boolean }"

  /// The subscription with a filter written as a literal.
  private static func start(_ id: String, _ filter: String) -> String {
    Talk(dialect: .appSync).start(id, "subscription { onCreateNote(filter: \(filter)) { text } }")
  }

  private static let rows: [(filter: String, heard: [Int])] = [
    (#"{text: {eq: "banana"}}"#, [1]), (#"{text: {ne: "banana"}}"#, [0, 2]), (#"{text: {contains: "pi"}}"#, [0, 2]),
    (#"{text: {notContains: "pi"}}"#, [1]), (#"{text: {beginsWith: "pi"}}"#, [2]),
    (#"{text: {in: ["pine", "banana"]}}"#, [1, 2]), (#"{text: {notIn: ["pine"]}}"#, [0, 1]),
    ("{stars: {eq: 3}}", [1]), ("{stars: {ne: 3}}", [0, 2]), ("{stars: {lt: 3}}", [0]), ("{stars: {le: 3}}", [0, 1]),
    ("{stars: {gt: 3}}", [2]), ("{stars: {ge: 3}}", [1, 2]), ("{stars: {between: [2, 5]}}", [1, 2]),
    ("{stars: {in: [1, 5]}}", [0, 2]), ("{stars: {notIn: [1, 5]}}", [1]), ("{done: {eq: true}}", [1]),
    // Members of one group all have to hold; groups are joined by or.
    (#"{text: {contains: "pi"}, stars: {gt: 3}}"#, [2]),
    (#"{and: [{text: {contains: "pi"}}, {done: {eq: false}}]}"#, [0, 2]),
    (#"{or: [{stars: {eq: 1}}, {and: [{done: {eq: true}}, {stars: {lt: 5}}]}]}"#, [0, 1]), ("{}", [0, 1, 2]),
  ]

  @Test func `every operator and group`() async throws {
    let talk = Talk(dialect: .appSync)
    try await Served.with(Self.schema) { server in
      let socket = try await talk.acknowledged(server.port)
      for (number, row) in Self.rows.enumerated() {
        socket.send(Self.start("\(number)", row.filter))
        #expect(try await socket.message() == ["id": .string("\(number)"), "type": "start_ack"], "\(row.filter)")
      }
      for note in Self.notes {
        let answer = try await HTTPRequest.graphql(
          "mutation { createNote(input: {text: \"\(note.text)\", stars: \(note.stars), done: \(note.done)}) "
            + "{ text stars done } }", port: server.port)
        try #require(answer.json["errors"] == nil)
      }
      var heard: [Int: [Int]] = [:]
      for _ in 0..<Self.rows.reduce(0, { $0 + $1.heard.count }) {
        let message = try await socket.message("data")
        let text = message["payload"]?["data"]?["onCreateNote"]?["text"]?.string
        let note = try #require(Self.notes.firstIndex { $0.text == text })
        heard[try #require(message["id"]?.string.flatMap { Int($0) }), default: []].append(note)
      }
      for (number, row) in Self.rows.enumerated() { #expect(heard[number] == row.heard, "\(row.filter)") }
      socket.send(talk.stop("0"))
      #expect(try await socket.message()["type"] == "complete")
      socket.abort()
    }
  }

  @Test(
    arguments: [
      ("{stars: {ge: 2, le: 4}}", "BadRequestException", "AMBIGUOUS_FILTER"),
      (#"{or: [{text: {beginsWith: "a", contains: "b"}}]}"#, "BadRequestException", "AMBIGUOUS_FILTER"),
      ("{and: [{or: [{stars: {gt: 1, ne: 3}}]}]}", "BadRequestException", "AMBIGUOUS_FILTER"),
      ("{stars: {like: 2}}", "ValidationError", nil), ("{nothing: {eq: 2}}", "ValidationError", nil),
      (#"{stars: {eq: "2"}}"#, "ValidationError", nil), ("{stars: {between: [1]}}", "BadRequestException", nil),
    ] as [(String, String, String?)])
  func `a filter that cannot be followed is refused with its type, alone`(
    filter: String, type: String, code: String?
  ) async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await Talk(dialect: .appSync).acknowledged(server.port)
      socket.send(Self.start("bad", filter), Self.start("good", "{stars: {eq: 2}}"))
      let error = try await socket.message()
      #expect(error["id"] == "bad" && error["type"] == "error")
      let first = error["payload"]?["errors"]?[0]
      #expect(first?["errorType"]?.string == type, "\(error)")
      #expect(first?["message"]?.string?.isEmpty == false)
      if let code { #expect(first?["extensions"]?["code"]?.string == code) }
      #expect(try await socket.message() == ["id": "good", "type": "start_ack"])
      socket.abort()
    }
  }
}
