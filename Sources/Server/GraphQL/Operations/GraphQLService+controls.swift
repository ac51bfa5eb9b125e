internal import MartletAccess
internal import MartletJSON
internal import MartletModels

extension GraphQLService {
  /// What the program adds to a subscription; nil for nothing.
  func control(_ field: String, _ arguments: JSONObject, _ identity: Identity) throws -> EventControl? {
    guard let ask = node.subscriptionControls[field] else { return nil }
    let question = SubscriptionQuestion(field: field, arguments: arguments, identity: identity)
    return try EventControl(field, try ask(question), FilterLimits(node.limits.query))
  }
}
