/// What outlives the process: the values that listeners know, and the writes that the server has not answered.
public enum DatasyncCacheMode: Hashable, Sendable {
  /// Nothing.
  case none
  /// Both, in a file that one process uses at a time. Writes are in it before they are shown; values within a second.
  case automatic(file: String)
  /// The same, but values are written by `saveCache()` only.
  case manualSaving(file: String)

  var file: String? {
    switch self {
    case .none: nil
    case .automatic(let file), .manualSaving(let file): file
    }
  }

  /// Whether values are written without being asked for.
  var isAutomatic: Bool {
    if case .automatic = self { true } else { false }
  }
}
