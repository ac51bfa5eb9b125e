internal import MartletSQLite

extension ReadSnapshot {
  /// The groups after `offset`, whole and in order, until `bytes` of entries are reached: at least one when there is
  /// one.
  package func groups(after offset: Int64, bytes: Int = 1 << 20) throws(StoreError) -> GroupRange {
    try typed {
      let position = try log.position()
      guard offset >= position.first - 1 else { return .gap }
      guard offset <= position.head else { return .groups([]) }
      return try log.groups(after: offset, bytes: bytes).map(GroupRange.groups) ?? .gap
    }
  }
}

/// What the log has after an offset, for another store.
package enum GroupRange: Sendable, Equatable {
  /// Empty when there is nothing new.
  case groups([LogGroup])
  /// Entries after the offset have expired: the other store restarts with a copy.
  case gap
}
