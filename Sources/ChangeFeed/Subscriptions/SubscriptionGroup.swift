package import MartletModels

/// What makes subscriptions equal: they see the same events in the same bytes.
package struct GroupKey: Hashable, Sendable {
  /// The version of the schema the operation was planned under.
  package var schemaVersion: UInt64
  /// The canonical text of the document, in UTF-8.
  package var document: [UInt8]
  /// The operation's name; empty when the document has only one without a name.
  package var operation: String
  /// The coerced variables as canonical JSON.
  package var variables: [UInt8]
  /// What the plan reads from the viewer's identity; empty while no access rule does.
  package var viewer: [UInt8]

  package init(
    schemaVersion: UInt64, document: [UInt8], operation: String, variables: [UInt8], viewer: [UInt8] = []
  ) {
    self.schemaVersion = schemaVersion
    self.document = document
    self.operation = operation
    self.variables = variables
    self.viewer = viewer
  }

  package static func == (left: GroupKey, right: GroupKey) -> Bool {
    left.schemaVersion == right.schemaVersion && left.document == right.document
      && left.operation.utf8.elementsEqual(right.operation.utf8) && left.variables == right.variables
      && left.viewer == right.viewer
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(schemaVersion)
    hasher.combine(document)
    for byte in operation.utf8 { hasher.combine(byte) }
    hasher.combine(variables)
    hasher.combine(viewer)
  }
}

/// Where a change is announced: one kind of change of one model, or a topic of the application's own.
package enum ChangeChannel: Hashable, Sendable {
  case model(Int, ChangeKind)
  /// All changes of one model's records: the channel of live queries, whose conditions are looked up by both images.
  case records(Int)
  case topic([UInt8])
  /// The tree. Its sockets' listeners are found by path; subscriptions are in the index by the first key of theirs.
  case tree

  /// The topic called `name`, by its bytes.
  package static func topic(named name: String) -> ChangeChannel { .topic(Array(name.utf8)) }
}

extension Change {
  /// Where the change is announced.
  package var channel: ChangeChannel {
    switch body {
    case .record(let change): .model(change.model, change.kind)
    case .event(let event): .topic(named: event.topic)
    case .tree: .tree
    }
  }
}

/// What a subscription listens to: a channel, a condition on the record, and the images that decide about updates.
package struct Interest: Hashable, Sendable {
  package var channel: ChangeChannel
  package var predicate: Predicate
  package var judgement: Judgement

  package init(_ channel: ChangeChannel, _ predicate: Predicate = .all, _ judgement: Judgement = .after) {
    self.channel = channel
    self.predicate = predicate
    self.judgement = judgement
  }
}

/// How much the subscription index takes.
package struct SubscriptionIndexLimits: Sendable {
  /// Conditions without an equality, which every change of their channel must be tried on: 1,000 are about 0.1 ms.
  package var scannedPredicates = 1_000
  /// Branches of one condition (values of `in`, parts of `or`): beyond, less of it is looked up and more is tried.
  package var branchesPerPredicate = 256
  /// Signatures of one channel, each of which costs a look-up for every change: beyond, only one field is looked up.
  package var signaturesPerChannel = 32

  package init() {}
}

/// Why a subscription was not taken.
package enum SubscriptionIndexError: Error, Sendable, Equatable, CustomStringConvertible {
  /// There are `limit` conditions without an equality already.
  case tooManyWithoutEquality(limit: Int)

  package var description: String {
    switch self {
    case .tooManyWithoutEquality(let limit):
      "The server already serves \(limit) subscription filters without an equality (scannedPredicates). "
        + "Add an eq or in on some field."
    }
  }
}

/// What the index did; for metrics and for the tests that hold its cost down.
package struct SubscriptionIndexCounters: Sendable, Equatable {
  /// Changes looked up.
  package var events = 0
  /// Table look-ups, one for each signature of the change's channel.
  package var lookups = 0
  /// Conditions or residues evaluated on a record, before or after an update.
  package var evaluations = 0
  /// Predicate nodes that matched.
  package var matches = 0

  package init() {}
}
