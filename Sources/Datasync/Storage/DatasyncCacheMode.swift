/// What outlives the process: the values that listeners know, and the writes that the server has not answered.
public enum DatasyncCacheMode: Hashable, Sendable {
  /// Nothing.
  case none
  /// Nothing, but the values of a text that `DatasyncService.cache()` gave are known from the start, in memory. It may
  /// be one that is delivered with the application.
  case initialized(cache: String)
  /// Both, in a file that one process uses at a time. Writes are in it before they are shown; values within a second.
  case automatic(file: String)
  /// The same, but values are written by `saveCache()` only.
  case manualSaving(file: String)

  var file: String? {
    switch self {
    case .none, .initialized: nil
    case .automatic(let file), .manualSaving(let file): file
    }
  }

  /// Whether values are written without being asked for.
  var isAutomatic: Bool {
    if case .automatic = self { true } else { false }
  }
}
