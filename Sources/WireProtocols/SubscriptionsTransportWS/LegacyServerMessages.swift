import MartletJSON

extension SubscriptionsTransportWS {
  /// What a server of this protocol writes.
  enum ServerText {
    static func connectionError(_ message: String) -> [UInt8] {
      MessageWriting.plain("connection_error", payload: ["message": .string(message)])
    }

    /// For text that is no message: the reference names the id it could not read.
    static func unreadable(_ message: String) -> [UInt8] {
      JSONValue.object(["id": nil, "type": "connection_error", "payload": ["message": .string(message)]]).serialized()
    }

    static func error(_ id: OperationID?, _ message: String) -> [UInt8] {
      guard let id else {
        return MessageWriting.plain("error", payload: ["message": .string(message)])
      }
      return MessageWriting.error(id, payload: ["message": .string(message)])
    }

    /// A list of errors as this protocol's one object: the first, with the whole list beside it when there are more.
    static func errorPayload(_ errors: [UInt8]) -> JSONValue {
      let list = (try? JSONValue(parsing: errors))?.array ?? []
      var first = list.first?.object ?? ["message": "The operation failed"]
      if list.count > 1 { first["errors"] = .array(list) }
      return .object(first)
    }
  }
}
