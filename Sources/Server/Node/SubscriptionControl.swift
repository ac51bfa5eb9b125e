public import MartletAccess
public import MartletJSON

/// What the program adds to a subscription when it begins, as an AppSync resolver does with
/// `extensions.setSubscriptionFilter` and `extensions.setSubscriptionInvalidationFilter`.
///
/// ```swift
/// configuration.subscriptionControls["onCreateAlert"] = { question in
///   var control = SubscriptionControl()
///   control.filter = [
///     "filterGroup": [["filters": [["fieldName": "detail.severity", "operator": "ge", "value": 5]]]]
///   ]
///   return control
/// }
/// ```
/// The operators are `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `between`, `beginsWith`, `contains`, `notContains`, `in`,
/// `notIn` and `containsAny`. The filters of a group must all hold, and one of the groups. A field's name may be a
/// path, with dots.
public struct SubscriptionControl: Sendable {
  /// Which events the subscription gets, besides what its own arguments say; nil for all of those.
  public var filter: JSONValue?
  /// Which payloads of `invalidateSubscriptions` end the subscription; nil for none.
  public var invalidation: JSONValue?

  /// No filter and no invalidation.
  public init() {}
}

/// A subscription that is about to begin.
public struct SubscriptionQuestion: Sendable {
  /// The subscription's field.
  public let field: String
  /// Its arguments.
  public let arguments: JSONObject
  /// Its caller, as the server admitted it.
  public let identity: Identity
}
