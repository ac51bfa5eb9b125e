import MartletJSON
import Testing

/// One client of the tree's WebSocket, in the messages of the protocol, after the greeting.
final class TreePeer {
  struct Push: Equatable {
    var action: String
    var body: JSONValue

    init(_ action: String, _ body: JSONValue) {
      self.action = action
      self.body = body
    }
  }

  let socket: RawSocket
  /// The session that the greeting names.
  let session: String
  private var number = 0

  /// - Parameter query: more of the handshake's query, such as `ls=…`.
  init(port: Int, ns: String = "test", _ query: String = "") async throws {
    let more = query.isEmpty ? "" : "&" + query
    socket = try await RawSocket.open(port: port, subprotocols: [], target: "/.ws?v=5&ns=\(ns)\(more)")
    let greeting = try await socket.message()
    #expect(greeting["t"] == "c")
    #expect(greeting["d"]?["t"] == "h")
    #expect(greeting["d"]?["d"]?["v"] == "5")
    session = greeting["d"]?["d"]?["s"]?.string ?? ""
  }

  @discardableResult
  func send(_ action: String, _ body: JSONValue) -> Int {
    number += 1
    let message: JSONValue = ["t": "d", "d": ["r": .int(Int64(number)), "a": .string(action), "b": body]]
    socket.send(String(decoding: message.serialized(), as: UTF8.self))
    return number
  }

  /// The next push as its action and body.
  func push() async throws -> Push {
    let data = try await socket.message()["d"] ?? .null
    return Push(data["a"]?.string ?? "", data["b"] ?? data)
  }

  /// The next message, which answers the request.
  func answer(_ number: Int) async throws -> JSONValue {
    let data = try await socket.message()["d"] ?? .null
    #expect(data["r"]?.int == Int64(number), "\(data)")
    return data["b"] ?? .null
  }

  /// Whether a request is answered before the socket ends.
  func answered(_ number: Int) async throws -> Bool {
    guard case .message(let message) = await socket.next() else { return false }
    #expect(message["d"]?["r"]?.int == Int64(number), "\(message)")
    return true
  }

  func ok(_ action: String, _ body: JSONValue) async throws {
    #expect(try await answer(send(action, body))["s"] == "ok")
  }

  /// Listens, and returns the first value.
  func listen(_ path: String) async throws -> JSONValue {
    let request = send("q", ["p": .string(path), "h": ""])
    let first = try await push()
    #expect(try await answer(request)["s"] == "ok")
    return first.body["d"] ?? .null
  }

  func value(_ path: String) async throws -> JSONValue {
    try await answer(send("g", ["p": .string(path)]))["d"] ?? .null
  }
}
