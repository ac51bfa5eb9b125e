internal import CMartletSQLite
internal import MartletVocabulary

/// The order of texts by the moments that they mean, as SQL names it: `written COLLATE martlet_moment`.
///
/// Every connection has it. A file with an index in this order can be read by other programs, but not written where the
/// index would change, unless they have it too.
package enum MomentCollation {
  /// Its name in SQL.
  package static let name = "martlet_moment"

  /// Gives it to a connection.
  static func register(on handle: OpaquePointer) -> Int32 {
    unsafe sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, nil,
      { _, leftCount, left, rightCount, right in
        // The bytes are SQLite's, during the call.
        unsafe Int32(
          truncatingIfNeeded: MomentText.compare(
            UnsafeBufferPointer(start: left?.assumingMemoryBound(to: UInt8.self), count: Int(leftCount)),
            UnsafeBufferPointer(start: right?.assumingMemoryBound(to: UInt8.self), count: Int(rightCount))
          ).signum())
      }, nil)
  }
}
