package import MartletJSON
package import MartletVocabulary

extension GraphQLTransportWS {
  /// A message from server to client.
  package enum ServerMessage: Equatable, Sendable {
    case connectionAck(payload: JSONObject?)
    case ping(payload: JSONObject?)
    case pong(payload: JSONObject?)
    /// `payload` is the result as it was written. `isPartial`: the event's transaction continues.
    case next(OperationID, payload: [UInt8], cursor: Cursor?, isPartial: Bool)
    /// `payload` is a list of errors; a single object of other servers is made one.
    case error(OperationID, payload: [JSONValue])
    case complete(OperationID)
    /// Live; without a cursor when its events have none. `view` says what the client's rights let it see.
    case ready(OperationID, Cursor?, view: String? = nil)
    case gap(OperationID, SubscriptionGap)
    /// A message about one operation that breaks the rules; only that operation fails.
    case malformed(OperationID, String)
    /// A type this client does not know.
    case unknown(type: String)

    /// Reads one message. Throws the client's close when not even the operation it belongs to can be read.
    package init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(Close) {
      let root = try MessageParsing.root(text, limits) { .badResponse($0) }
      guard let type = root["type"]?.string else { throw .badResponse("Message without type") }
      switch type {
      case "connection_ack": self = .connectionAck(payload: root["payload"]?.value.object)
      case "ping": self = .ping(payload: root["payload"]?.value.object)
      case "pong": self = .pong(payload: root["payload"]?.value.object)
      case "next", "error", "complete", "ready", "gap":
        guard let id = MessageParsing.id(root) else {
          throw .badResponse("Message \(type) without id")
        }
        self = Self.operationMessage(type, id, root)
      default: self = .unknown(type: type)
      }
    }

    private static func operationMessage(_ type: String, _ id: OperationID, _ root: JSONTape.Element) -> ServerMessage {
      switch type {
      case "next": next(id, root)
      case "error": error(id, root["payload"])
      case "complete": .complete(id)
      case "ready":
        readiness(id, root["cursor"], view: root["view"]?.string)
      default:
        cursor(root["to"]).map { to in
          .gap(id, SubscriptionGap(reason: root["reason"]?.string ?? "", from: cursor(root["from"]), to: to))
        } ?? .malformed(id, "gap without its end")
      }
    }

    private static func next(_ id: OperationID, _ root: JSONTape.Element) -> ServerMessage {
      guard let payload = root["payload"], payload.kind == .object else {
        return .malformed(id, "next whose payload is not an object")
      }
      let cursor = cursor(root["cursor"])
      if cursor == nil, let member = root["cursor"], !member.isNull {
        return .malformed(id, "next with a broken cursor")
      }
      return .next(
        id, payload: [UInt8](payload.rawBytes), cursor: cursor, isPartial: root["partial"]?.bool ?? false)
    }

    private static func error(_ id: OperationID, _ payload: JSONTape.Element?) -> ServerMessage {
      guard let payload else { return .error(id, payload: []) }
      return .error(id, payload: payload.value.array ?? (payload.isNull ? [] : [payload.value]))
    }

    private static func readiness(_ id: OperationID, _ place: JSONTape.Element?, view: String?) -> ServerMessage {
      guard let place else { return .ready(id, nil) }
      return cursor(place).map { .ready(id, $0, view: view) } ?? .malformed(id, "ready with a cursor that is none")
    }

    private static func cursor(_ element: JSONTape.Element?) -> Cursor? {
      element?.string.flatMap { Cursor($0) }
    }
  }
}
