internal import CMartletVFS

/// Which file a path names: the same for two paths, or at two moments, when it is one file.
package struct FileIdentity: Equatable, Sendable {
  private var device: UInt64 = 0
  private var file: UInt64 = 0

  /// Nil when there is no file at `path`.
  package init?(_ path: String) {
    guard unsafe martlet_file_identity(path, &device, &file) == 1 else { return nil }
  }
}
