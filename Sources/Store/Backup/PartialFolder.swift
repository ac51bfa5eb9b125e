#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A folder that is made under another name and gets its own when it is complete.
struct PartialFolder {
  private let target: String
  /// The folder while it is not complete.
  let path: String

  init(for target: String) throws(StoreError) {
    var name = target
    while name.count > 1, name.hasSuffix("/") { name.removeLast() }
    self.target = name
    path = name + ".partial"
    if unsafe access(name, F_OK) == 0, try !FolderContents.names(of: name).isEmpty {
      throw StoreError(.alreadyExists, "\(name) is there already and not empty")
    }
    guard unsafe mkdir(path, 0o755) == 0 else {
      let error = errno
      throw error == EEXIST
        ? StoreError(
          .alreadyExists, "\(path) is there: a backup that is running or was interrupted; remove it if none runs")
        : StoreError(.failed, "the folder \(path) cannot be created: \(FolderContents.text(error))")
    }
  }

  /// Makes the files durable and gives the folder its name.
  func finish() throws(StoreError) {
    for name in try FolderContents.names(of: path) {
      // What SQLite made beside the database while it was checked is empty.
      if name == StoreFormat.databaseName { try sync(path + "/" + name) } else { unsafe unlink(path + "/" + name) }
    }
    try sync(path)
    guard unsafe rename(path, target) == 0 else {
      throw StoreError(.failed, "\(path) cannot be renamed to \(target): \(FolderContents.text(errno))")
    }
    let parent = target.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    try sync(target.hasPrefix("/") && parent.isEmpty ? "/" : parent.isEmpty ? "." : parent)
  }

  /// Removes what was made.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in (try? FolderContents.names(of: path)) ?? [] {
      let inner = path + "/" + name
      // A folder is the copy of a further tree.
      if unsafe unlink(inner) != 0 { remove(inner) }
    }
    unsafe rmdir(path)
  }

  private func sync(_ path: String) throws(StoreError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fsync(descriptor) == 0 else {
      throw StoreError(.failed, "\(path) cannot be made durable: \(FolderContents.text(errno))")
    }
  }
}

/// What is in a folder.
enum FolderContents {
  /// The names of the folder's files, without `.` and `..`; empty when there is no folder.
  static func names(of folder: String) throws(StoreError) -> [String] {
    guard let stream = unsafe opendir(folder) else {
      if errno == ENOENT { return [] }
      throw StoreError(.failed, "\(folder) cannot be read: \(text(errno))")
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      // The name lies in the entry, which is valid until the next call.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  static func text(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
