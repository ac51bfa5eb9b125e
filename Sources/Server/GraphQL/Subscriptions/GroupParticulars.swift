internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletSockets
internal import MartletTokens

/// What only some groups of subscriptions have. An object of its own, because there is a group for each subscriber
/// where all filters differ, and most groups have none of it.
final class GroupParticulars {
  /// For fields fed by a topic: members of the payload that must equal the subscription's arguments.
  let topicFilter: JSONObject
  /// Makes the payloads of a subscription for the changes of several models.
  let changes: ChangeSelection?
  /// What the program has added to the subscription.
  let control: EventControl?
  /// The part of the tree that the subscription is about.
  let tree: TreeSubscription?

  /// Nil when there is none of it.
  init?(topicFilter: JSONObject, changes: ChangeSelection?, control: EventControl?, tree: TreeSubscription?) {
    if topicFilter.isEmpty, changes == nil, control == nil, tree == nil { return nil }
    self.topicFilter = topicFilter
    self.changes = changes
    self.control = control
    self.tree = tree
  }
}

/// What the rules come to for the members of a group whom they restrict.
final class GroupRestriction {
  /// The rules' outcome as a digest.
  let rules: [UInt8]
  /// What hides fields of the records from the members; nil where nothing does.
  let mask: RuleOutcome?
  /// Says what the members see of the log: another view has seen other events.
  let view: String

  /// - Parameter rules: a digest, which is not empty.
  init(_ rules: [UInt8], _ interests: [Interest], mask: RuleOutcome?) {
    self.rules = rules
    self.mask = mask
    var seen = rules
    for interest in interests { seen += interest.predicate.canonicalText.utf8 }
    view = String(decoding: Base64URL.encode(Array(Digest.sha256(seen).prefix(16))), as: UTF8.self)
  }
}
