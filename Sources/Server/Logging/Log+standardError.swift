internal import MartletRuntime

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension Log {
  /// How a line of the log is written.
  public enum Format: String, Sendable, CaseIterable {
    /// For a person: time, level, message, then `key=value`.
    case text
    /// For a program: one JSON object a line, with the members `time`, `level` and `message`, and one for each value.
    case jsonLines = "json"
  }

  /// A log that writes entries of `level` and above to standard error, one a line. Standard error may be full, closed
  /// or never read: then entries are lost and a later line says how many.
  public static func standardError(_ format: Format = .text, level: Level = .info) -> Log {
    switch format {
    case .text: Log(level: level, writer: StandardError.text)
    case .jsonLines: Log(level: level, writer: StandardError.jsonLines)
    }
  }
}

/// One writer for each format, however many servers there are in the process.
private enum StandardError {
  static let text = LogWriter(LogLimits()) { output.write(LogLine.text($0)) }
  static let jsonLines = LogWriter(LogLimits()) { output.write(LogLine.json($0)) }

  private static let output = LineOutput(descriptor: STDERR_FILENO)
}

/// Lines for a descriptor that may refuse them.
package final class LineOutput: Sendable {
  private let descriptor: Int32
  /// Whether the last write ended inside a line.
  private let isMidLine = Lock(false)

  package init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes a line; false when the system took less than the whole of it. Blocks while the descriptor takes nothing.
  package func write(_ line: String) -> Bool {
    isMidLine.withLock { isMidLine in
      let bytes = Array(((isMidLine ? "\n" : "") + line + "\n").utf8)
      let count = put(bytes)
      if count > 0 { isMidLine = count < bytes.count }
      return count == bytes.count
    }
  }

  /// How many of the bytes were written.
  private func put(_ bytes: [UInt8]) -> Int {
    var count = 0
    while count < bytes.count {
      let written = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      }
      if written > 0 {
        count += written
      } else if written < 0, errno == EINTR {
        continue
      } else if written < 0, errno == EAGAIN {
        // The descriptor is shared with a program that made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&waiting, 1, -1) >= 0 || errno == EINTR else { return count }
      } else {
        return count
      }
    }
    return count
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
