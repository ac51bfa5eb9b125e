package import MartletChangeFeed
package import MartletJSON
package import MartletVocabulary

/// What the members of one group share: how a change becomes their payload. The room that plans subscriptions
/// implements it.
///
/// There may be one per subscriber, when all filters differ, so implementations are small. Confined to a loop.
package protocol FeedGroup: AnyObject {
  /// What the group listens to. They follow from the group's key.
  var interests: [Interest] { get }
  /// Whether a change with an effect on the records of its interests is for the group.
  func accepts(_ change: Change, _ effect: Effect) -> Bool
  /// Writes the payload from the change alone; false when that takes reads or user code.
  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool
  /// Makes the payload with reads or user code. `completion` runs once, on the loop, perhaps before this returns.
  func evaluate(_ change: Change, _ completion: @escaping ([UInt8]) -> Void)
  /// The event with a payload, and with all that its members' connections can share.
  func event(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) -> FeedEvent
}

extension FeedGroup {
  /// Whether a change is for the group; for catch-up, where no index helps.
  func concerns(_ change: Change) -> Bool {
    interests.contains { interest in interest.effect(of: change).map { accepts(change, $0) } == true }
  }

  /// Whether the group listens to changes of a model's records.
  func follows(_ model: Int) -> Bool {
    interests.contains { interest in
      switch interest.channel {
      case .model(model, _), .records(model): true
      case .model, .records, .topic, .tree: false
      }
    }
  }
}
