package import MartletJSON
package import MartletWire

/// What a server of this protocol writes.
extension GraphQLWS.ServerMachine {
  /// As the reference implementation does after a `connection_error`.
  package static let refusalCode = WebSocketCloseCode.internalError
  package static let floodCode = WebSocketCloseCode.protocolError

  package func acknowledgement(_ payload: JSONObject?) -> [UInt8] {
    MessageWriting.plain("connection_ack", payload: payload)
  }

  package static func answer(_ fault: StartStopFault, _ what: String, _ id: OperationID?) -> [UInt8] {
    let payload: JSONValue = ["message": .string(what)]
    switch fault {
    case .unreadable:
      // The reference names the id it could not read.
      return JSONValue.object(["id": nil, "type": "connection_error", "payload": payload]).serialized()
    case .malformed, .unknownType, .duplicate:
      guard let id else { return MessageWriting.plain("error", payload: payload.object) }
      return MessageWriting.error(id, payload: payload)
    }
  }

  package static func connectionError(_ refusal: StartStopRefusal, _ reason: String) -> [UInt8] {
    var payload: JSONObject = ["message": .string(reason)]
    switch refusal {
    // Before the acknowledgement the message alone says that it is about credentials.
    case .credentials, .timeout, .flood: break
    case .withdrawn: payload["extensions"] = ["code": "UNAUTHENTICATED"]
    }
    return MessageWriting.plain("connection_error", payload: payload)
  }

  /// This protocol's one object: the first error, with the whole list beside it when there are more.
  package static func errorPayload(_ errors: [UInt8]) -> JSONValue {
    let list = (try? JSONValue(parsing: errors))?.array ?? []
    var first = list.first?.object ?? ["message": "The operation failed"]
    if list.count > 1 { first["errors"] = .array(list) }
    return .object(first)
  }
}
