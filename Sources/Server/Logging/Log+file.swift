internal import MartletRuntime

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension Log {
  /// A log that appends every entry to a file as one JSON object a line, for `ServerConfiguration.audit`. The file is
  /// made when it is missing, for its owner alone to read. Entries that repeat each other are all written. The server's
  /// own log reports entries that cannot be written.
  ///
  /// - Throws: `ServerError` (`access`) when the file cannot be opened, or is a pipe that no process reads.
  public static func file(appendingTo path: String) throws(ServerError) -> Log {
    let descriptor = openForAppending(path)
    guard descriptor >= 0 else {
      throw ServerError(.access, "The audit log \(path) cannot be opened: \(SystemText.of(errno)).")
    }
    let output = LineOutput(descriptor: descriptor)
    var limits = LogLimits()
    limits.repeats = .max
    return Log(level: .info, writer: LogWriter(limits) { output.write(LogLine.json($0)) })
  }
}

/// Opens a file without waiting for the reader of a pipe.
private func openForAppending(_ path: String) -> Int32 {
  unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
}

private enum SystemText {
  static func of(_ code: Int32) -> String {
    // The text is the system's own, and ends with a zero.
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
