#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The lock on a data folder: one process at a time. The system drops it when the process ends, however it ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Creates `folder` when missing and locks it.
  init(folder: String) throws(StoreError) {
    try Self.create(folder)
    let path = folder + "/" + StoreFormat.lockName
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    if descriptor < 0 { throw Self.failure("the data folder \(folder) cannot be locked") }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let error = errno
      close(descriptor)
      if error == EWOULDBLOCK {
        throw StoreError(.locked, "the data folder \(folder) is in use by another process")
      }
      throw StoreError(.failed, "the data folder \(folder) cannot be locked: error \(error)")
    }
  }

  deinit {
    close(descriptor)
  }

  /// Creates the folder and makes its entry durable, so that a power cut cannot take a whole acknowledged store back.
  private static func create(_ folder: String) throws(StoreError) {
    if unsafe mkdir(folder, 0o755) == 0 {
      let parent = folder.split(separator: "/").dropLast().joined(separator: "/")
      let path = folder.hasPrefix("/") ? "/" + parent : (parent.isEmpty ? "." : parent)
      let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      if directory < 0 || fsync(directory) != 0 {
        let error = failure("the folder \(path) cannot be made durable")
        if directory >= 0 { close(directory) }
        throw error
      }
      close(directory)
    } else if errno != EEXIST {
      throw failure("the data folder \(folder) cannot be created")
    }
  }

  private static func failure(_ what: String) -> StoreError {
    let code = errno
    let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return StoreError(.failed, "\(what): \(text)")
  }
}
