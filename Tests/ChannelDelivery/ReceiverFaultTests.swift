import Foundation
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Receivers that refuse, hang, redirect or answer garbage, and addresses that are not delivered to.
@Suite(.timeLimit(.minutes(1))) struct ReceiverFaultTests {
  /// Makes a subscription that gives up after its second attempt, writes once, and returns its state then.
  private func deadLetter(
    _ receiver: Receiver, _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }
  ) async throws -> JSONValue {
    let configuration = try Served.configuration(receiver) {
      $0.limits.channels.attempts = 2
      $0.limits.channels.deliveryTime = .milliseconds(300)
      $0.limits.channels.answerBytes = 1_000
      try adjust(&$0)
    }
    var found = JSONValue.null
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      found = await Served.status("n", server) { $0["deadLetters"] == 1 }
      // Nothing else is disturbed.
      #expect(await Call.send("GET", "/n.json", port: server.port).json == 1)
    }
    return found
  }

  static let faults: [(Receiver.Answer, String)] = [
    (.status(500), "the receiver answered 500"),
    (.status(302, ["Location": "http://127.0.0.1:1/"]), "the receiver redirected (302), which is not followed"),
    (.bytes("this is not HTTP\r\n\r\n"), "the receiver's answer cannot be read as HTTP"),
    (.bytes(""), "the receiver's answer cannot be read as HTTP"),
    (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nshort"), "the receiver's answer cannot be read as HTTP"),
    (
      .status(200, body: String(repeating: "x", count: 2_000)),
      "the receiver's answer is longer than the limit channels.answerBytes"
    ),
    (.silence, "the receiver took longer than the limit channels.deliveryTime"),
  ]

  @Test(arguments: faults.indices) func `an answer other than an acceptance ends in a dead letter with its reason`(
    index: Int
  ) async throws {
    let (answer, reason) = Self.faults[index]
    let receiver = try Receiver { _ in answer }
    let state = try await deadLetter(receiver)
    #expect(state["dead"]?[0]?["reason"] == .string(reason))
    #expect(state["dead"]?[0]?["attempts"] == 2)
    #expect(state["dead"]?[0]?["body"]?["value"] == 1)
    #expect(receiver.requests.count == 2)
  }

  @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"])
  func `an address that is not public is refused, whatever its form, and no connection is made`(host: String)
    async throws
  {
    let receiver = try Receiver()
    let state = try await deadLetter(receiver) { configuration in
      configuration.channels?.allowedAddresses = []
      configuration.channels?.webhooks[0].url = "http://\(host):\(receiver.port)/"
    }
    #expect(
      state["dead"]?[0]?["reason"] == "the receiver's address is not public; `allowedAddresses` lists exceptions")
    #expect(receiver.requests.isEmpty)
  }

  @Test func `the log and the state of a subscription show neither secrets nor the receiver's URL`() async throws {
    let entries = Collected()
    let receiver = try Receiver { _ in .status(500) }
    let state = try await deadLetter(receiver) { configuration in
      configuration.log = Log(level: .debug) { entries.add("\($0.message) \($0.metadata)") }
      configuration.channels?.webhooks[0].url = receiver.url + "?token=very-secret"
      configuration.channels?.webhooks[0].headers = ["Authorization": "Bearer very-secret"]
    }
    #expect(receiver.requests.first?.fields["authorization"] == "Bearer very-secret")
    for text in entries.all + [state.description] {
      #expect(!text.contains("very-secret"), "\(text)")
      #expect(!text.contains(Served.secret), "\(text)")
    }
    #expect(entries.all.contains { $0.contains("given up") })
  }

  @Test func `a dead letter is delivered again or discarded on request, and the others follow meanwhile`() async throws
  {
    let receiver = try Receiver { $0.json["value"] == 2 ? .status(410) : .status(200) }
    try await Served.with(Served.configuration(receiver)) { server in
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      for number in 1...3 { await Served.put("/n.json", "\(number)", server) }
      _ = await receiver.requests(3)
      let state = await Served.status("n", server) { $0["deadLetters"] == 1 }
      let id = try #require(state["dead"]?[0]?["id"]?.string)
      receiver.answer { _ in .status(200) }
      let unknown = await Call.send("POST", "/channels/n/retry", #"{"event": "no"}"#, port: server.port)
      #expect(unknown.status == 404)
      let retried = await Call.send("POST", "/channels/n/retry", #"{"event": "\#(id)"}"#, port: server.port)
      #expect(retried.json == ["retried": 1])
      #expect(await receiver.requests(4)[3].id == id)
      _ = await Served.status("n", server) { $0["deadLetters"] == 0 }
      receiver.answer { _ in .status(410) }
      await Served.put("/n.json", "4", server)
      _ = await Served.status("n", server) { $0["deadLetters"] == 1 }
      #expect(await Call.send("POST", "/channels/n/discard", port: server.port).json == ["discarded": 1])
      #expect(await Served.status("n", server)["deadLetters"] == 0)
    }
  }

  @Test func `subscriptions of one webhook share its places, and one that fails does not hold up the others`()
    async throws
  {
    let receiver = try Receiver { $0.json["subscription"] == "s0" ? .status(500) : .status(200) }
    let configuration = Served.configuration(receiver) { $0.limits.channels.concurrentDeliveries = 2 }
    try await Served.with(configuration) { server in
      for number in 0..<6 {
        try await Served.subscribe(#"{"id": "s\#(number)", "webhook": "hook", "node": "/n"}"#, server)
      }
      for number in 1...4 { await Served.put("/n.json", "\(number)", server) }
      for number in 1..<6 {
        _ = await Served.status("s\(number)", server) { $0["waiting"] == 0 }
        let mine = receiver.requests.filter { $0.json["subscription"] == .string("s\(number)") }
        #expect(mine.map { $0.json["value"] } == [1, 2, 3, 4])
      }
      #expect(receiver.mostActive <= 2)
    }
  }
}

/// Texts that a closure collects.
final class Collected: Sendable {
  private let texts = Lock<[String]>([])

  func add(_ text: String) { texts.withLock { $0.append(text) } }
  var all: [String] { texts.withLock { $0 } }
}
