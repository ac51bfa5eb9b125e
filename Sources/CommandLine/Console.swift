internal import Foundation

/// The terminal or pipe the command talks to. Lines are written at once, so that a reader of a pipe sees each when it
/// happens.
package enum Console {
  package static func out(_ line: String) {
    write(line + "\n", to: .standardOutput)
  }

  package static func error(_ line: String) {
    write(line + "\n", to: .standardError)
  }

  /// Without a line feed, for progress.
  package static func status(_ text: String) {
    write(text, to: .standardError)
  }

  /// Writes a line of a server: when the descriptor does not take it at once, the line is lost. A server serves on when
  /// what it writes to is full, closed or never read.
  ///
  /// - Parameter descriptor: standard output, unless another one is given.
  package static func announce(_ line: String, to descriptor: Int32 = 1) {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&state, 1, 0) == 1, state.revents & Int16(POLLOUT) != 0 else { return }
    // A pipe that is ready takes a line of this length without blocking (PIPE_BUF).
    try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(
      contentsOf: Data((line + "\n").utf8.prefix(4_096)))
  }

  /// Whether standard error is a terminal.
  package static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

  private static func write(_ text: String, to handle: FileHandle) {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      // Output is what the command is for. A reader that has seen enough, such as `head`, is not a failure to speak of.
      if handle.fileDescriptor == STDOUT_FILENO, !isWithoutReader(STDOUT_FILENO) {
        let line = "Standard output cannot be written: \(NamedFile.reason(error)).\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      }
      StandardStreams.end(with: .io)
    }
  }

  /// Whether it is a pipe or a socket whose other end is closed.
  private static func isWithoutReader(_ descriptor: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    // The structure outlives the call.
    return unsafe poll(&state, 1, 0) == 1 && state.revents & Int16(POLLERR | POLLHUP) != 0
  }
}

/// Files named on the command line, with failures that name them.
package enum NamedFile {
  package static func text(_ path: String) throws(CommandFailure) -> String {
    guard let text = String(data: try data(path), encoding: .utf8) else {
      throw CommandFailure(.badData, "\(path) is not UTF-8 text.")
    }
    return text
  }

  /// Bytes of a file.
  package static func size(_ path: String) throws(CommandFailure) -> Int {
    do {
      let values = try URL(fileURLWithPath: path).resourceValues(forKeys: [.fileSizeKey, .isDirectoryKey])
      if values.isDirectory == true { throw CommandFailure(.io, "\(path) cannot be read: it is a folder.") }
      return values.fileSize ?? 0
    } catch {
      throw (error as? CommandFailure) ?? CommandFailure(.io, "\(path) cannot be read: \(reason(error)).")
    }
  }

  private static func data(_ path: String) throws(CommandFailure) -> Data {
    do {
      if path == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
      if isPipe(path) {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
      }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      if (try? URL(fileURLWithPath: path).resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true {
        throw CommandFailure(.io, "\(path) cannot be read: it is a folder.")
      }
      throw CommandFailure(.io, "\(path) cannot be read: \(reason(error)).")
    }
  }

  /// Whether it is a pipe or a device, such as a shell gives for `<(…)`, which Foundation does not read as a file.
  private static func isPipe(_ path: String) -> Bool {
    var known = stat()
    // The structure outlives the call.
    guard unsafe stat(path, &known) == 0 else { return false }
    return [S_IFIFO, S_IFCHR].contains(known.st_mode & S_IFMT)
  }

  package static func write(_ text: String, to path: String) throws(CommandFailure) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandFailure(.io, "\(path) cannot be written: \(reason(error)).")
    }
  }

  /// Replaces a file in one step: what reads it meanwhile reads the old or the new one. A link stays one, and the file
  /// keeps its permissions and, where that is allowed, its owner. A file that is missing is made.
  package static func replace(_ path: String, with text: String) throws(CommandFailure) {
    let place = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    var known = stat()
    // The structure outlives the call.
    guard unsafe stat(place.path, &known) == 0 else { return try write(text, to: place.path) }
    let other = place.deletingLastPathComponent()
      .appendingPathComponent(".\(place.lastPathComponent).\(UUID().uuidString)").path
    do {
      // Paths are copied for each call.
      let descriptor = unsafe open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Self.systemError }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: Data(text.utf8))
      // Only some may give a file away; the mode is set after it, because giving away changes it.
      _ = fchown(descriptor, known.st_uid, known.st_gid)
      guard fchmod(descriptor, known.st_mode & 0o7777) == 0 else { throw Self.systemError }
      try handle.synchronize()
      try handle.close()
      guard unsafe rename(other, place.path) == 0 else { throw Self.systemError }
    } catch {
      _ = unsafe unlink(other)
      throw CommandFailure(.io, "\(path) cannot be written: \(reason(error)).")
    }
  }

  private static var systemError: any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  package static func makeFolder(_ path: String) throws(CommandFailure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(.io, "\(path) cannot be made: \(reason(error)).")
    }
  }

  package static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?, .fileNoSuchFile?: "there is no such file"
    case .fileReadNoPermission?, .fileWriteNoPermission?: "permission denied"
    case .fileWriteOutOfSpace?: "the disk is full"
    default: (error as NSError).localizedDescription
    }
  }
}
