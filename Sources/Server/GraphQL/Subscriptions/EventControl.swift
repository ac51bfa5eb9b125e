internal import MartletJSON
internal import MartletModels

/// A control that has been read.
struct EventControl: Sendable {
  let field: String
  let filter: EventFilter?
  let invalidation: EventFilter?
  /// Keeps subscriptions with other controls apart.
  let key: [UInt8]

  init(_ field: String, _ control: SubscriptionControl, _ limits: FilterLimits) throws(FilterError) {
    self.field = field
    filter = try Self.filter(control.filter, limits)
    invalidation = try Self.filter(control.invalidation, limits)
    key = JSONValue.array([control.filter ?? .null, control.invalidation ?? .null]).serialized()
  }

  private static func filter(_ json: JSONValue?, _ limits: FilterLimits) throws(FilterError) -> EventFilter? {
    guard let json else { return nil }
    return try EventFilter(json, limits)
  }
}
