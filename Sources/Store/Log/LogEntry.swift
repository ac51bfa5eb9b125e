internal import MartletChangeFeed

/// One entry of the log under the schema in force.
struct LogEntry {
  let offset: Int64
  let endsTransaction: Bool
  let body: EntryBody
}

/// What an entry says. Subscribers see changes; everything else is for the fold and matches no subscription.
enum EntryBody {
  case change(Change.Body)
  /// What of a change of the tree did not fit into its first entry: further rows of the same value. Directly after it,
  /// in the same transaction.
  case treeRest(TreeChange)
  /// The outcome of a numbered write. It stands before the write's changes, in the same transaction.
  case outcome(WriteOutcome)
  /// What of an outcome did not fit into its first entry; directly after it, in the same transaction.
  case outcomeRest(WriteOutcomeRest)
  case term(TermStart)
  case schema(SchemaMigration)
  case horizon(Horizon)
  case deferred(DeferredEntry)
  case definition(StoredDefinition)
}

/// The beginning of a term: from this entry's offset on, another run of an authority writes.
struct TermStart: Equatable {
  /// Larger than that of every earlier term.
  var ordinal: Int64
  /// The term's random name.
  var term: UInt64
  /// Terms with smaller ordinals are dropped from the lineage; cursors of theirs are gaps.
  var keptFrom: Int64
}

/// What has expired. The authority decides it and logs it, so that every store that folds the log forgets the same.
///
/// It holds from its entry on, wherever the expired rows still are: deleting them is each store's housekeeping.
package struct Horizon: Sendable, Equatable {
  /// Entries with smaller offsets have expired.
  package var firstOffset: Int64 = 1
  /// Clients whose last numbered write is older have expired, with all their outcomes. Milliseconds since 1970.
  package var clientsBefore: Int64 = 0
  /// Older tombstones have expired. Milliseconds since 1970.
  package var tombstonesBefore: Int64 = 0

  package init() {}
}
