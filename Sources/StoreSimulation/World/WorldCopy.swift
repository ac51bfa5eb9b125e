internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// A copy of a server's data, as a backup makes it.
struct WorldCopy {
  var files: [String: [UInt8]]
  /// The last offset of its log.
  var head: Int64
  /// What was committed until then.
  var log: [Change]
  /// What was applied until then.
  var applied: Checks.Applied
}

/// Where a callback leaves its value.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump.
final class Found<Value>: @unchecked Sendable {
  var value: Value?
}

extension RecordKey {
  /// The first value, for lines of the history.
  var text: String { values.first?.string ?? "?" }
}
