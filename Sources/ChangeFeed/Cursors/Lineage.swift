package import MartletVocabulary

/// The runs of the server that wrote this log, in order: which term wrote from which offset on.
///
/// A cursor is valid when its term is here and its offset is not beyond where that term ended. Ordinary restarts keep
/// every cursor. A restored older copy, once it runs again, lacks the term (or ends it earlier) of exactly the cursors
/// that have seen what the copy has not.
package struct Lineage: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package var term: UInt64
    /// The first offset this term may have written.
    package var firstOffset: Int64

    package init(term: UInt64, firstOffset: Int64) {
      self.term = term
      self.firstOffset = firstOffset
    }
  }

  package private(set) var entries: [Entry]

  package init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  /// The run that writes now.
  package var currentTerm: UInt64 { entries.last?.term ?? 0 }

  /// A new run begins to write at `firstOffset`.
  package mutating func begin(term: UInt64, at firstOffset: Int64) {
    entries.append(Entry(term: term, firstOffset: firstOffset))
  }

  /// Forgets runs that ended before `offset`, when no cursor into them can be served.
  package mutating func forget(before offset: Int64) {
    while entries.count > 1, entries[1].firstOffset <= offset { entries.removeFirst() }
  }

  /// Whether the changes after `cursor` can be replayed, given the log's first kept and last offsets.
  package func judge(_ cursor: Cursor, firstKept: Int64, head: Int64) -> Resumption {
    guard let index = entries.lastIndex(where: { $0.term == cursor.term }) else {
      return .gap(.unknownTerm)
    }
    let end = index + 1 < entries.count ? entries[index + 1].firstOffset - 1 : head
    guard cursor.offset <= end else { return .gap(.beyondTerm) }
    guard cursor.offset >= 0, cursor.offset + 1 >= firstKept else { return .gap(.retention) }
    return .valid
  }
}

/// Whether a subscription can resume.
package enum Resumption: Sendable, Equatable {
  case valid
  case gap(GapReason)
}

/// Why something is missing and cannot be filled in.
package enum GapReason: String, Sendable, Hashable, CaseIterable {
  /// The changes are older than what the log keeps.
  case retention
  /// The cursor's term is not in this log's lineage: another or a restored copy of the data.
  case unknownTerm = "unknown-term"
  /// The cursor is ahead of what its term wrote into this copy: the data was restored from an earlier time.
  case beyondTerm = "beyond-term"
  /// The changes were written under a schema that cannot be mapped to the present one: of a model that was dropped and
  /// is there again.
  case schemaChange = "schema-change"
  /// The caller's rights, or what it asks for, are no longer those under which it saw what came before.
  case viewChanged = "view-changed"
  /// Entries of the log are damaged or missing.
  case damage
}
