package import MartletJSON

extension GraphQLTransportWS {
  /// A message from client to server.
  package enum ClientMessage: Equatable, Sendable {
    case connectionInit(payload: JSONObject?)
    case ping(payload: JSONObject?)
    case pong(payload: JSONObject?)
    /// A payload that is not a request makes the whole message malformed; a document that does not parse does not.
    case subscribe(OperationID, RequestPayload)
    case complete(OperationID)

    /// Reads one message; anything else is answered by closing with 4400 and the reason.
    package init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(Close) {
      let root = try MessageParsing.root(text, limits) { .badRequest($0) }
      switch root["type"]?.string {
      case "connection_init": self = .connectionInit(payload: try Self.payload(root))
      case "ping": self = .ping(payload: try Self.payload(root))
      case "pong": self = .pong(payload: try Self.payload(root))
      case "complete": self = .complete(try Self.id(root))
      case "subscribe":
        let id = try Self.id(root)
        guard let payload = root["payload"] else { throw .badRequest("subscribe without payload") }
        do throws(GraphQLRequestError) {
          self = .subscribe(id, try RequestPayload(payload))
        } catch {
          throw .badRequest("subscribe: \(error)")
        }
      case let type?: throw .badRequest("Unknown message type \(type)")
      case nil: throw .badRequest("Message without type")
      }
    }

    private static func id(_ root: JSONTape.Element) throws(Close) -> OperationID {
      guard let id = root["id"]?.string.flatMap(OperationID.init) else {
        throw .badRequest("The id must be a string that is not empty")
      }
      return id
    }

    private static func payload(_ root: JSONTape.Element) throws(Close) -> JSONObject? {
      guard let payload = root["payload"], !payload.isNull else { return nil }
      guard let object = payload.value.object else { throw .badRequest("The payload must be an object or null") }
      return object
    }

    /// The message's text.
    package func serialized() -> [UInt8] {
      switch self {
      case .connectionInit(let payload): MessageWriting.plain("connection_init", payload: payload)
      case .ping(let payload): MessageWriting.plain("ping", payload: payload)
      case .pong(let payload): MessageWriting.plain("pong", payload: payload)
      case .complete(let id): MessageWriting.complete(id)
      case .subscribe(let id, let request):
        MessageWriting.message(id, "subscribe") { writer in
          writer.key("payload")
          request.write(to: &writer)
        }
      }
    }
  }
}
