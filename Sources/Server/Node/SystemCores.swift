internal import Foundation

/// How many processors there are.
enum SystemCores {
  /// One fewer than there are, at least one.
  static func spare() -> Int {
    max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
  }
}
