import MartletJSON
import MartletWire

extension AppSyncRealtime {
  /// What a server of this protocol writes.
  enum ServerText {
    static func acknowledgement(_ timeout: Duration) -> [UInt8] {
      let milliseconds = timeout.components.seconds * 1_000 + timeout.components.attoseconds / 1_000_000_000_000_000
      return MessageWriting.plain("connection_ack", payload: ["connectionTimeoutMs": .int(milliseconds)])
    }

    static func startAcknowledgement(_ id: OperationID) -> [UInt8] {
      MessageWriting.message(id, "start_ack") { _ in }
    }

    private static func list(_ type: ErrorType, _ message: String) -> JSONValue {
      var error: JSONObject = ["errorType": .string(type.rawValue), "message": .string(message)]
      if let code = type.code { error["errorCode"] = .int(code) }
      return ["errors": [.object(error)]]
    }

    static func connectionError(_ type: ErrorType, _ message: String) -> [UInt8] {
      MessageWriting.plain("connection_error", payload: list(type, message).object)
    }

    /// An error of one subscription, or of the connection when there is no id.
    static func error(_ id: OperationID?, _ type: ErrorType, _ message: String) -> [UInt8] {
      let payload = list(type, message)
      guard let id else { return MessageWriting.plain("error", payload: payload.object) }
      return MessageWriting.error(id, payload: payload)
    }

    /// GraphQL errors with the `errorType` that clients of this protocol look for.
    static func errorPayload(_ errors: [UInt8]) -> JSONValue {
      let list = (try? JSONValue(parsing: errors))?.array ?? []
      return ["errors": .array(list.map { .object(typed($0.object ?? ["message": $0])) })]
    }

    private static func typed(_ error: JSONObject) -> JSONObject {
      var error = error
      let type = errorType(error["extensions"]?["code"]?.string)
      error["errorType"] = .string(type.name)
      if let code = type.known?.code { error["errorCode"] = .int(code) }
      return error
    }

    private static func errorType(_ code: String?) -> (name: String, known: ErrorType?) {
      guard let code else { return (ErrorType.validation.rawValue, .validation) }
      let known: ErrorType
      switch code {
      case "UNAUTHENTICATED", "FORBIDDEN": known = .unauthorized
      case "UNSUPPORTED_OPERATION": known = .unsupported
      case "BAD_USER_INPUT", "AMBIGUOUS_FILTER": known = .badRequest
      case "TOO_MANY_FILTERS", "OVERLOADED", "RATE_LIMITED", "LIMIT_EXCEEDED": known = .limitExceeded
      default: return (code, nil)
      }
      return (known.rawValue, known)
    }
  }

  /// What a `start` says.
  struct StartMessage: Equatable {
    var request: RequestPayload
    /// The subscription's own authorization.
    var authorization: JSONObject?

    /// Reads the payload: `data` is a JSON text inside the JSON.
    init(_ payload: JSONTape.Element?, _ limits: JSONLimits) throws(GraphQLRequestError) {
      guard let data = payload?["data"]?.string else {
        throw GraphQLRequestError(.wrongType, "payload.data", "a string that holds a JSON object")
      }
      let tape: JSONTape
      do throws(JSONError) {
        tape = try JSONTape(Array(data.utf8), limits: limits)
      } catch {
        throw GraphQLRequestError(.notJSON, "payload.data", "payload.data: \(error)")
      }
      request = try RequestPayload(tape.root)
      guard let extensions = payload?["extensions"], !extensions.isNull else { return }
      for (name, value) in try RequestPayload.object(extensions, "payload.extensions") {
        if name == "authorization" {
          guard let blob = value.object else {
            throw GraphQLRequestError(.wrongType, "payload.extensions.authorization", "an object")
          }
          authorization = blob
          if blob.contains(where: { $0.value.string.map { RequestSignature.isSignature($0) } ?? false }) {
            request.signedText = Array(data.utf8)
          }
        } else {
          request.extensions[name] = value
        }
      }
    }
  }
}
