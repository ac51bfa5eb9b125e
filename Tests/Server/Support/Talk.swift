import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// How a client of one dialect says what every dialect has, for suites that go through all of them.
struct Talk: Sendable, CustomTestStringConvertible {
  static let all = Dialect.allCases.map(Talk.init)
  static let schema = "type Note @model { id: ID! text: String stars: Int }"
  static let subscription = "subscription { onCreateNote { text } }"

  let dialect: Dialect

  var testDescription: String { dialect.name }

  /// The type of an event's message.
  var event: String { dialect == .graphqlTransportWS ? "next" : "data" }

  func initialise(_ payload: JSONObject = [:]) -> String {
    var payload = payload
    if dialect == .graphqlTransportWS { payload["martlet"] = ["cursors": true] }
    return Self.text(["type": "connection_init", "payload": .object(payload)])
  }

  func start(_ id: String, _ query: String = Talk.subscription, extensions: JSONObject = [:]) -> String {
    let request: JSONValue = ["query": .string(query), "extensions": .object(extensions)]
    switch dialect {
    case .graphqlTransportWS: return Self.text(["id": .string(id), "type": "subscribe", "payload": request])
    case .graphqlWS: return Self.text(["id": .string(id), "type": "start", "payload": request])
    case .appSync:
      let data = Self.text(["query": .string(query), "variables": [:]])
      let payload: JSONValue = ["data": .string(data), "extensions": .object(extensions)]
      return Self.text(["id": .string(id), "type": "start", "payload": payload])
    }
  }

  func stop(_ id: String) -> String {
    Self.text(["id": .string(id), "type": dialect == .graphqlTransportWS ? "complete" : "stop"])
  }

  /// A socket that has said nothing yet.
  ///
  /// - Parameter store: The path of a further store.
  func open(
    _ port: Int, authorization: JSONObject = ["host": "api.example"], store: String = ""
  ) async throws -> RawSocket {
    let target = store + "/graphql"
    guard dialect == .appSync else {
      return try await RawSocket.open(port: port, subprotocols: [dialect.subprotocol], target: target)
    }
    let opening = AppSyncRealtime.Opening(.subprotocol, authorization: authorization, target: target + "/realtime")
    return try await RawSocket.open(port: port, subprotocols: opening.subprotocols, target: opening.target)
  }

  /// A socket that has been accepted, with nothing left to read.
  func acknowledged(_ port: Int) async throws -> RawSocket {
    let socket = try await open(port)
    socket.send(initialise())
    _ = try await socket.message(dialect == .graphqlTransportWS ? "connection_ack" : "ka")
    return socket
  }

  /// The same with live subscriptions.
  func live(_ port: Int, _ count: Int = 1) async throws -> RawSocket {
    let socket = try await acknowledged(port)
    socket.send((0..<count).map { start("live \($0)") })
    switch dialect {
    case .graphqlTransportWS: for _ in 0..<count { _ = try await socket.message("ready") }
    case .appSync: for _ in 0..<count { _ = try await socket.message("start_ack") }
    case .graphqlWS:
      // Nothing confirms a subscription; a second initialisation is answered after it.
      socket.send(initialise())
      _ = try await socket.message("connection_ack")
    }
    return socket
  }

  private static func text(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }
}

/// Frames as a client writes them, and some that no client may write.
enum RawFrame {
  /// A frame with a mask of zeros, which leaves the payload as it is.
  static func masked(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [first, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
  }

  static let unmaskedText: [UInt8] = [0x81, 0x01, 0x41]
  static let reservedBits = masked(0xC1 | 0x20, [0x41])
  static let reservedOpcode = masked(0x83, [])
  static let fragmentedPing = masked(0x09, [])
  static let strayContinuation = masked(0x80, [0x41])
  static let closeOfOneByte = masked(0x88, [0x03])
  static let closeWithCode1005 = masked(0x88, [0x03, 0xED])
  static let notUTF8 = masked(0x81, [0xFF])
}
