internal import MartletRuntime

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// How another process asks the one that has a data folder open for a backup: by two files in the folder.
///
/// `BACKUP` holds the path of the folder to copy into and ends with a newline; the asking process keeps it locked, so
/// that one asks at a time and a request without a lock is an abandoned one. The server answers in `BACKUP.answer`:
/// `started`, then `done` or `failed` and the reason.
enum BackupRequest {
  static let name = "BACKUP"
  static let answerName = "BACKUP.answer"
  /// Bytes of a request or an answer: a path, or a reason that names two.
  private static let largestRequest = 3 * Int(PATH_MAX)

  // MARK: The asking process

  /// The folder's lock, when no process uses the folder; nil otherwise.
  static func lockUnused(_ folder: String) throws(StoreError) -> FolderLock? {
    do throws(StoreError) {
      return try FolderLock(folder: folder)
    } catch {
      if error.code == .locked { return nil }
      throw error
    }
  }

  /// Asks for a copy of `folder` in the folder `target` and waits until it is complete.
  ///
  /// - Parameter mostLooks: Looks at the answer until the server counts as one that does not take requests.
  static func ask(_ folder: String, for target: String, looks mostLooks: Int, pause: () throws -> Void) throws {
    let path = folder + "/" + name
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(.failed, "\(path) cannot be written: \(FolderContents.text(errno))")
    }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw StoreError(.overloaded, "another backup of \(folder) is running")
    }
    let answer = folder + "/" + answerName
    unsafe unlink(answer)
    defer {
      unsafe unlink(path)
      unsafe unlink(answer)
    }
    ftruncate(descriptor, 0)
    let bytes = Array((absolute(target) + "\n").utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw StoreError(.failed, "\(path) cannot be written: \(FolderContents.text(errno))")
    }
    var looks = 0
    while true {
      try pause()
      let lines = (text(of: answer) ?? "").split(separator: "\n")
      if lines.last == "done" { return }
      if let line = lines.last, line.hasPrefix("failed ") {
        throw StoreError(.failed, String(line.dropFirst("failed ".count)))
      }
      looks += 1
      if lines.isEmpty, looks > mostLooks {
        throw StoreError(.failed, "the server that uses \(folder) does not answer requests for a backup")
      }
      if looks.isMultiple(of: 25), try lockUnused(folder) != nil {
        throw StoreError(.closed, "the server that used \(folder) ended during the backup; run it again")
      }
    }
  }

  // MARK: The process that has the folder open

  /// The folder asked for, when another process waits for it. An abandoned request is removed.
  static func pending(in folder: String) -> String? {
    let path = folder + "/" + name
    guard unsafe access(path, F_OK) == 0 else { return nil }
    guard isWanted(in: folder) else {
      unsafe unlink(path)
      return nil
    }
    guard let text = text(of: path), text.hasSuffix("\n") else { return nil }
    return String(text.dropLast())
  }

  /// Whether the asking process is still there.
  static func isWanted(in folder: String) -> Bool {
    let descriptor = unsafe open(folder + "/" + name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// Whether the request has its final answer, which the asking process has not read yet.
  static func isAnswered(in folder: String) -> Bool {
    guard let line = text(of: folder + "/" + answerName)?.split(separator: "\n").last else { return false }
    return line == "done" || line.hasPrefix("failed ")
  }

  static func answer(_ line: String, in folder: String) {
    let part = folder + "/" + answerName + ".part"
    let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array((line.replacing("\n", with: " ") + "\n").utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
    close(descriptor)
    unsafe rename(part, folder + "/" + answerName)
  }

  // MARK: Files

  private static func text(of path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: largestRequest) { buffer, count in
      unsafe count = max(0, read(descriptor, buffer.baseAddress, largestRequest))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }
}

/// Serves requests for a backup of one store's folder, one at a time.
final class BackupRequests: Sendable {
  private let folder: String?
  private let isCopying = Lock(false)

  /// A store that is in no folder gets no requests.
  init(_ place: StorePlace) {
    folder = if case .folder(let folder) = place { folder } else { nil }
  }

  /// Serves the request that waits, if there is one. `copy` copies the store to a place while its second argument says
  /// so, and reports the outcome. On the writer's executor.
  func serve(
    _ copy: (
      StorePlace, @escaping @Sendable () -> Bool, @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) -> Void
  ) {
    guard let folder, !isCopying.withLock({ $0 }), let target = BackupRequest.pending(in: folder),
      !BackupRequest.isAnswered(in: folder)
    else { return }
    isCopying.withLock { $0 = true }
    BackupRequest.answer("started", in: folder)
    copy(.folder(target), { BackupRequest.isWanted(in: folder) }) { [self] result in
      switch result {
      case .success: BackupRequest.answer("done", in: folder)
      case .failure(let error): BackupRequest.answer("failed \(error.message)", in: folder)
      }
      // After the answer: a look in between would take the answered request for a new one.
      isCopying.withLock { $0 = false }
    }
  }
}
