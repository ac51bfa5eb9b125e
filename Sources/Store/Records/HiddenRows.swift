internal import MartletSQLite

/// The rows that a connection does not see although its tables have them: those of a large write whose records are
/// inserted in slices (`StagedWrite`), until it is committed as a whole. One for each connection, confined to its
/// thread.
///
/// Such a row has a number of its write in place of its version. Once the write is committed the number stays in the
/// row, so that its commit changes none of them, and stands for the version of every new record, 1.
final class HiddenRows {
  /// Numbers of such writes stand below this one, and no version does.
  private static let versions: Int64 = -(1 << 30)

  /// What the hidden rows have in place of a version; nil while no row is hidden.
  private(set) var version: Int64?
  /// Removes the rows that are hidden: a write that needs the place of one of them is first.
  private(set) var remove: (() throws -> Void)?

  init() {}

  /// Hides the rows of the write with this number.
  func hide(_ number: Int64, _ remove: (() throws -> Void)? = nil) {
    version = Self.version(of: number)
    self.remove = remove
  }

  /// Shows all rows.
  func show() {
    version = nil
    remove = nil
  }

  /// A condition for the rows that are seen, after others of its statement; empty while all are.
  func and(_ word: String = "AND") -> String { version.map { " \(word) \(SQLText.version) <> \($0)" } ?? "" }

  /// What the rows of a write have in place of a version.
  static func version(of number: Int64) -> Int64 { versions - number }

  /// The version that a row stands for.
  static func version(stored: Int64) -> Int64 { stored < versions ? 1 : stored }

  /// The same in SQL.
  static let column = "CASE WHEN \(SQLText.version) < \(versions) THEN 1 ELSE \(SQLText.version) END"
}
