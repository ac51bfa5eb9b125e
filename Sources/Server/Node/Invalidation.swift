internal import MartletJSON

/// The call that ends subscriptions travels through the log, so that it has its place among the events, on every loop
/// and every node.
enum Invalidation {
  /// A topic that no field of a schema can listen to: names of fields have no dots.
  static let topic = "martlet.invalidation"

  static func event(_ field: String, _ payload: JSONObject) -> JSONValue {
    ["field": .string(field), "payload": .object(payload)]
  }
}
