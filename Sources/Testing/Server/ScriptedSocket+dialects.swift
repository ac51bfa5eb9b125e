public import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// An operation as a client asks for it, whatever the dialect.
public struct ScriptedOperation: Sendable, Hashable {
  /// The name to answer it by.
  public var id: String
  /// The document.
  public var query: String
  /// The variables.
  public var variables: JSONObject
  /// Which operation of the document, when it was named.
  public var operationName: String?
  /// What travels beside it; in AppSync's dialect with its `authorization`.
  public var extensions: JSONObject
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ScriptedSocket {
  /// The client's next message, which asks for an operation: `subscribe` or `start`. Inside `VirtualTime.run`.
  /// - Throws: `ScriptError` when it is another, when the socket ends, or when nothing comes within `limit`.
  @discardableResult
  public func expectOperation(within limit: Duration = .seconds(60)) async throws -> ScriptedOperation {
    let message = try await expect(dialect.words.start, within: limit)
    let payload = message["payload"]
    var request = payload
    if dialect.words.hasRequestAsText { request = payload?["data"]?.string.flatMap { try? JSONValue(parsing: $0) } }
    guard let id = message["id"]?.string, let query = request?["query"]?.string else {
      throw ScriptError("expected an operation, but the client sent \(JSONValue.object(message))")
    }
    return ScriptedOperation(
      id: id, query: query, variables: request?["variables"]?.object ?? JSONObject(),
      operationName: request?["operationName"]?.string, extensions: payload?["extensions"]?.object ?? JSONObject())
  }

  /// Sends a result of an operation, with its place in the log if the script speaks of places, which only
  /// `graphql-transport-ws` has.
  public func next(_ id: String, data: JSONValue, cursor: String? = nil, endsTransaction: Bool = true) {
    let words = dialect.words
    var message: JSONObject = ["id": .string(id), "type": .string(words.result), "payload": ["data": data]]
    if let cursor, words.hasCursors { message["cursor"] = .string(cursor) }
    if !endsTransaction, words.hasCursors { message["partial"] = true }
    send(message)
  }

  /// Ends an operation.
  public func complete(_ id: String) {
    send(["id": .string(id), "type": "complete"])
  }

  /// Ends an operation with one error, in the shape of the dialect.
  public func fail(_ id: String, message: String) {
    send(["id": .string(id), "type": "error", "payload": failure(message)])
  }

  /// Refuses the client's credentials as the dialect does: closes with 4403, after a `connection_error` where there is
  /// such a message. The client then asks for others.
  public func refuse(_ reason: String = "Unauthorized") {
    switch dialect {
    case .graphqlTransportWS: close(4403, reason: reason)
    case .graphqlWS:
      send([
        "type": "connection_error",
        "payload": ["message": .string(reason), "extensions": ["code": "UNAUTHENTICATED"]],
      ])
      close(1011, reason: reason)
    case .appSync:
      send([
        "type": "connection_error",
        "payload": ["errors": [["errorType": "UnauthorizedException", "message": .string(reason), "errorCode": 401]]],
      ])
      close(1008, reason: reason)
    }
  }

  private func failure(_ message: String) -> JSONValue {
    let error: JSONObject = ["message": .string(message)]
    switch dialect {
    case .graphqlTransportWS: return [.object(error)]
    case .graphqlWS: return .object(error)
    case .appSync: return ["errors": [["errorType": "ScriptedError", "message": .string(message)]]]
    }
  }

  // MARK: By itself

  /// What the server says by itself to a message.
  struct OwnAnswer {
    var texts: [String]
    /// Whether the script sees the message, too.
    var isExpected = false
    /// Whether `ka` messages begin.
    var keepsAlive = false
  }

  /// Nil when everything is left to the script.
  func ownAnswer(to text: String) -> OwnAnswer? {
    guard let server else { return nil }
    let words = dialect.words
    if Self.isOf("connection_init", text), var payload = server.acknowledgement {
      if words.confirmsStart, payload["connectionTimeoutMs"] == nil { payload["connectionTimeoutMs"] = 300_000 }
      return OwnAnswer(
        texts: [#"{"type":"connection_ack","payload":\#(JSONValue.object(payload))}"#],
        keepsAlive: words.keepsAlive && server.keepAliveInterval != nil)
    }
    if Self.isOf("ping", text), server.answersPings { return OwnAnswer(texts: [#"{"type":"pong"}"#]) }
    guard server.confirms else { return nil }
    if words.confirmsStart, Self.isOf("start", text) { return confirmation("start_ack", text) }
    if words.confirmsStop, Self.isOf("stop", text) { return confirmation("complete", text) }
    return nil
  }

  private func confirmation(_ type: String, _ text: String) -> OwnAnswer? {
    guard let id = (try? JSONValue(parsing: text))?["id"] else { return nil }
    return OwnAnswer(texts: [#"{"id":\#(id),"type":"\#(type)"}"#], isExpected: true)
  }

  private static func isOf(_ type: String, _ text: String) -> Bool { text.contains(#""type":"\#(type)""#) }

  /// Says that it is alive, from now on for as long as the socket is open.
  func keepAlive() {
    guard isOpen, let interval = server?.keepAliveInterval else { return }
    say(#"{"type":"ka"}"#)
    loop.schedule(at: loop.now + interval) { [weak self] in self?.keepAlive() }
  }
}

/// What a scripted server has to know of a dialect besides its errors.
private struct ScriptedWords {
  /// The type of the message that asks for an operation.
  var start: String
  /// The type of a result's message.
  var result: String
  /// Whether results say their place in the log.
  var hasCursors = false
  /// Whether the request is a text inside the message.
  var hasRequestAsText = false
  /// Whether `start_ack` confirms an operation, and the acknowledgement says how long the server may be silent.
  var confirmsStart = false
  /// Whether `complete` confirms `stop`.
  var confirmsStop = false
  /// Whether the server sends `ka`.
  var keepsAlive = false
}

extension Dialect {
  fileprivate var words: ScriptedWords {
    switch self {
    case .graphqlTransportWS: ScriptedWords(start: "subscribe", result: "next", hasCursors: true)
    case .graphqlWS: ScriptedWords(start: "start", result: "data", confirmsStop: true, keepsAlive: true)
    case .appSync:
      ScriptedWords(
        start: "start", result: "data", hasRequestAsText: true, confirmsStart: true, confirmsStop: true,
        keepsAlive: true)
    }
  }
}
