import MartletJSON

extension AppSyncRealtime {
  /// What a client writes to begin a subscription.
  enum StartText {
    /// The message's text.
    ///
    /// - Parameter authorization: answers the subscription's own, for its `data`.
    static func text(
      _ id: OperationID, _ request: RequestPayload, authorization: ([UInt8]) -> JSONObject
    ) -> [UInt8] {
      var data: JSONObject = ["query": .string(request.query), "variables": .object(request.variables)]
      if let name = request.operationName { data["operationName"] = .string(name) }
      let bytes = JSONValue.object(data).serialized()
      let text = String(decoding: bytes, as: UTF8.self)
      var extensions = request.extensions
      extensions["authorization"] = .object(authorization(bytes))
      let members = extensions
      return MessageWriting.message(id, "start") { writer in
        writer.key("payload")
        writer.value(["data": .string(text), "extensions": .object(members)])
      }
    }
  }
}
