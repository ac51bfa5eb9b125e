package import MartletJSON

/// How peers say in a message what they refuse: credentials, for which the two older dialects have no close code, and
/// operations beyond a connection's limit, for which no dialect has one.
package enum Refusals {
  /// The error for one operation more than a connection may have, of this package's server.
  package static func tooManyOperations(_ limit: Int) -> JSONObject {
    [
      "message": .string(tooManyOperationsReason(limit)),
      "extensions": ["code": .string(tooManyOperationsCode)],
    ]
  }

  package static func tooManyOperationsReason(_ limit: Int) -> String {
    "This connection has \(limit) operations already"
  }

  private static let tooManyOperationsCode = "TOO_MANY_OPERATIONS"

  /// Whether an error says that the connection has as many operations as it may have; another connection can take it.
  package static func isTooManyOperations(_ error: JSONValue) -> Bool {
    let words = [error["errorType"]?.string, error["extensions"]?["code"]?.string, error["message"]?.string]
    return words.contains { word in
      guard let word else { return false }
      return word.utf8.elementsEqual(tooManyOperationsCode.utf8) || word.hasPrefix("MaxSubscriptionsReached")
    }
  }

  /// Whether an error of a `connection_error` or `error` message is about credentials.
  static func isUnauthorized(_ error: JSONValue) -> Bool {
    // AppSync's type decides, with or without the name of its service in front: the code beside it is as often 400.
    if let type = error["errorType"]?.string, isRefusal(type.split(separator: "#").last ?? "") { return true }
    if let code = number(error["errorCode"]) ?? number(error["extensions"]?["status"]) {
      return code == 401 || code == 403
    }
    return [error["extensions"]?["code"]?.string, error["message"]?.string].contains { text in
      text.map { isRefusal($0[...]) } ?? false
    }
  }

  private static func isRefusal(_ text: Substring) -> Bool {
    let text = text.lowercased()
    return text.hasPrefix("unauthorized") || text.hasPrefix("unauthorised") || text.hasPrefix("unauthenticated")
  }

  static func number(_ value: JSONValue?) -> Int64? { value?.int }

  /// The errors of a payload in any of the shapes peers use: a list, an object with a list (or one) under `errors`,
  /// one object, text, or nothing.
  static func errors(_ payload: JSONTape.Element?) -> [JSONValue] {
    guard let payload, !payload.isNull else { return [] }
    let value = payload.value
    if let list = value.array { return list }
    guard value.object != nil else { return [["message": value]] }
    guard let inner = value["errors"], !inner.isNull else { return [value] }
    return inner.array ?? [inner]
  }
}
