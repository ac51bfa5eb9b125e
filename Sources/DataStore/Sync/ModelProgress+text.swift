internal import MartletJSON
internal import MartletStore
internal import MartletSyncEngine

extension ModelProgress {
  /// The name under which the store keeps a model's progress.
  static func name(_ shape: RecordShape) -> String { ClientWriter.progressName(shape) }

  /// As the store keeps it.
  var text: String {
    let digest = filter.map { JSONValue.int(Int64($0)) }
    return JSONValue.array([
      lastSync.map { .int($0) } ?? .null, completedAt.map { .int($0) } ?? .null, .array(digest),
    ]).description
  }

  /// Nil for text that says nothing, as after a gap.
  init?(text: String) {
    guard let parts = try? JSONValue(parsing: Array(text.utf8)), parts.array?.count == 3 else { return nil }
    self.init(
      lastSync: parts[0]?.int, completedAt: parts[1]?.int,
      filter: (parts[2]?.array ?? []).compactMap { $0.int.flatMap(UInt8.init(exactly:)) })
  }
}
