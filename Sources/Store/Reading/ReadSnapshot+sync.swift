package import MartletModels
internal import MartletSQLite

/// A deletion that the store remembers.
package struct Tombstone: Sendable {
  /// The record before its deletion.
  package var image: Record
  package var version: Int64
  /// When it was deleted, in milliseconds since 1970.
  package var time: Int64
  /// Orders the tombstones of a model; a page continues after the last one of the page before.
  package var place: [UInt8]
}

extension ReadSnapshot {
  /// The newest offset that the snapshot contains, and when its group was committed, in milliseconds since 1970.
  package func moment() throws(StoreError) -> (head: Int64, time: Int64) {
    try typed {
      let position = try log.position()
      return (position.head, position.time)
    }
  }

  /// The offset after which everything stands that was committed at `time` or later; nil when the log has forgotten
  /// some of it.
  package func offset(before time: Int64) throws(StoreError) -> Int64? {
    try typed {
      let position = try log.position()
      let first = try log.firstOffset(writtenSince: time, position, atMost: position.head + 1)
      return first > position.first || position.first == 1 ? first - 1 : nil
    }
  }

  /// How many records of a model fulfil a condition; nil when that takes more than counting in SQL, or when there are
  /// more than `StoreLimits.countedRows` that a condition has to be tried on.
  package func count(_ model: Int, where predicate: Predicate) throws(StoreError) -> Int? {
    try typed {
      let shape = try records.table(model).shape
      func count(_ text: String, _ values: [SQLValue]) throws -> Int {
        let statement = try database.statement("SELECT count(*) FROM \(text)")
        for (index, value) in values.enumerated() { try value.bind(to: statement, at: index + 1) }
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int64(0)) : 0
      }
      let seen = hidden.and()
      if predicate == .all { return try count(shape.table + hidden.and("WHERE"), []) }
      let condition = try PredicateSQL(predicate, shape)
      guard condition.residual == nil,
        try count("(SELECT 1 FROM \(shape.table) LIMIT \(limits.countedRows &+ 1))", []) <= limits.countedRows
      else { return nil }
      return try count("\(shape.table) WHERE \(condition.text)\(seen)", condition.values)
    }
  }

  /// At most `count` deletions of a model since `time`, after the one at `place`.
  package func tombstones(
    _ model: Int, since time: Int64, after place: [UInt8]?, count: Int, bytes: Int = .max
  ) throws(StoreError) -> [Tombstone] {
    try typed {
      let shape = try records.table(model).shape
      let kept = max(time, try log.horizon().tombstonesBefore)
      let rows = try database.statement(
        """
        SELECT key, version, at, image FROM martlet_tombstones WHERE model = ? AND key > ? AND at >= ?
        ORDER BY key LIMIT ?
        """)
      defer { rows.reset() }
      try rows.bind(1, Int64(shape.storedNumber))
      try rows.bind(2, blob: place ?? [])
      try rows.bind(3, kept)
      try rows.bind(4, Int64(count))
      var found: [Tombstone] = []
      var size = 0
      while size < bytes, try rows.step() {
        guard let image = try coder.records.image(rows.bytes(3)) else { continue }
        size += image.size
        found.append(
          Tombstone(image: image, version: rows.int64(1), time: rows.int64(2), place: rows.bytes(0)))
      }
      return found
    }
  }

  /// The deletion of the record with a key; nil when it exists, never did, or was deleted too long ago.
  package func tombstone(_ model: Int, _ key: RecordKey) throws(StoreError) -> Tombstone? {
    try typed {
      try TombstoneTable.read(
        try records.table(model).shape.storedNumber, key, try log.horizon(), coder.records, database)
    }
  }
}
