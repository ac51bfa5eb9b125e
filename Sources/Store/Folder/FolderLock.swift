#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The lock on a data folder: one process at a time. The system drops it when the process ends, however it ends.
final class FolderLock: Sendable {
  /// Attempts to lock a file that another process removes each time, which only a refusal does.
  private static let attempts = 100

  private let folder: String
  private let descriptor: Int32
  /// The names in the folder before it was locked; nil when there was no folder.
  private let found: Set<String>?

  /// Creates `folder` when missing and locks it.
  init(folder: String) throws(StoreError) {
    self.folder = folder
    let isNew = try Self.create(folder)
    do throws(StoreError) {
      let (descriptor, names) = try Self.lock(folder)
      self.descriptor = descriptor
      found = isNew ? nil : names
    } catch {
      if isNew { unsafe rmdir(folder) }
      throw error
    }
  }

  deinit {
    close(descriptor)
  }

  /// Removes the files that opening a store makes and that were not there before, and the folder if it was made. For a
  /// folder that is refused, while it is locked and its database is closed.
  func leaveAsFound() {
    let database = StoreFormat.databaseName
    for name in [database + "-wal", database + "-shm", database, StoreFormat.lockName]
    where found?.contains(name) != true {
      unsafe unlink(folder + "/" + name)
    }
    if found == nil { unsafe rmdir(folder) }
  }

  /// Locks the folder, and returns the names that are in it.
  private static func lock(_ folder: String) throws(StoreError) -> (descriptor: Int32, found: Set<String>) {
    let path = folder + "/" + StoreFormat.lockName
    for _ in 0..<attempts {
      guard let (descriptor, isNew) = try lock(path, of: folder) else { continue }
      do throws(StoreError) {
        // Under the lock: no other process is about to make or remove files.
        var names = Set(try FolderContents.names(of: folder))
        if isNew { names.remove(StoreFormat.lockName) }
        return (descriptor, names)
      } catch {
        if isNew { unsafe unlink(path) }
        close(descriptor)
        throw error
      }
    }
    throw StoreError(.locked, "the data folder \(folder) is in use by another process")
  }

  /// Locks the file, and returns whether it was made. Nil when another process has removed it meanwhile: that lock
  /// keeps no process out.
  private static func lock(_ path: String, of folder: String) throws(StoreError) -> (descriptor: Int32, isNew: Bool)? {
    var isNew = true
    var descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    if descriptor < 0, errno == EEXIST {
      isNew = false
      descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
      if descriptor < 0, errno == ENOENT { return nil }
    }
    if descriptor < 0 { throw failure("the data folder \(folder) cannot be locked") }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let error = errno
      close(descriptor)
      if error == EWOULDBLOCK {
        throw StoreError(.locked, "the data folder \(folder) is in use by another process")
      }
      throw StoreError(.failed, "the data folder \(folder) cannot be locked: error \(error)")
    }
    var (locked, named) = (stat(), stat())
    guard unsafe fstat(descriptor, &locked) == 0, unsafe stat(path, &named) == 0, locked.st_ino == named.st_ino,
      locked.st_dev == named.st_dev
    else {
      close(descriptor)
      return nil
    }
    return (descriptor, isNew)
  }

  /// Creates the folder and makes its entry durable, so that a power cut cannot take a whole acknowledged store back.
  /// Returns whether there was none.
  private static func create(_ folder: String) throws(StoreError) -> Bool {
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
      return true
    }
    if errno != EEXIST { throw failure("the data folder \(folder) cannot be created") }
    return false
  }

  private static func failure(_ what: String) -> StoreError {
    let code = errno
    let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return StoreError(.failed, "\(what): \(text)")
  }
}
