import MartletJSON

/// What `martlet subscribe` writes: one JSON object a line.
///
/// - An event is the GraphQL response with its cursor first: `{"cursor":"9f-7","data":{…}}`. While more events of the
///   same transaction follow, it says so: `{"cursor":"9f-7","endsTransaction":false,"data":{…}}`.
/// - A hole that could not be filled: `{"gap":{"reason":"retention","from":"9f-7","to":"9f-90"}}`.
enum EventLine {
  static func event(_ response: JSONValue, cursor: String?, endsTransaction: Bool = true) -> JSONObject {
    var line = JSONObject()
    if let cursor { line["cursor"] = .string(cursor) }
    if !endsTransaction { line["endsTransaction"] = .bool(false) }
    for (key, value) in response.object ?? ["data": response] { line[key] = value }
    return line
  }

  static func gap(reason: String, from: String?, to: String?, dropped: Int?) -> JSONObject {
    var gap: JSONObject = ["reason": .string(reason)]
    if let from { gap["from"] = .string(from) }
    if let to { gap["to"] = .string(to) }
    if let dropped { gap["dropped"] = .int(Int64(dropped)) }
    return ["gap": .object(gap)]
  }
}
