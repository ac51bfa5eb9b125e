import Foundation
import Glibc

/// A terminal of our own: a program draws on one end, the test reads the other.
final class Terminal {
  private let leader: Int32
  private let path: String
  private var shown: [UInt8] = []

  init(rows: Int, columns: Int) throws {
    // What posix_openpt, unlockpt and ptsname do; Swift's module of the C library leaves them out.
    leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number) = (CInt(0), CUnsignedInt(0))
    guard leader >= 0, ioctl(leader, Self.setLock, &locked) == 0, ioctl(leader, Self.getNumber, &number) == 0 else {
      throw POSIXError(.ENOTTY)
    }
    path = "/dev/pts/\(number)"
    resize(rows: rows, columns: columns)
  }

  /// TIOCSPTLCK and TIOCGPTN.
  private static let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))

  deinit { close(leader) }

  func resize(rows: Int, columns: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(leader, UInt(TIOCSWINSZ), &size)
  }

  /// Starts a program whose standard output is this terminal.
  func start(_ executable: URL, _ words: [String], environment: [String: String]) throws -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = words
    process.environment = environment
    let follower = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard follower >= 0 else { throw POSIXError(.ENOTTY) }
    let handle = FileHandle(fileDescriptor: follower, closeOnDealloc: false)
    defer { close(follower) }
    process.standardOutput = handle
    process.standardError = handle
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Reads until a whole screen fulfils a condition, and returns its lines; nil when the program ended or `seconds` are
  /// over. What came before is dropped, so that the next call sees later screens.
  func screen(within seconds: Double, where isWanted: ([String]) -> Bool) -> [String]? {
    let deadline = Date().addingTimeInterval(seconds)
    while Date() < deadline {
      var poll = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 100) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(leader, &buffer, buffer.count)
      guard count > 0 else { return nil }
      shown += buffer.prefix(count)
      // A screen is what lies between one cursor-home and the end of its drawing.
      let text = String(decoding: shown, as: UTF8.self)
      let screens = text.components(separatedBy: "\u{1B}[H").dropFirst().filter { $0.contains("\u{1B}[J") }
      for screen in screens {
        let lines = (screen.components(separatedBy: "\u{1B}[J").first ?? "")
          // The terminal adds a return to each line feed.
          .replacingOccurrences(of: "\u{1B}[K", with: "").replacingOccurrences(of: "\r", with: "")
          .components(separatedBy: "\n")
        if isWanted(lines) {
          shown = []
          return lines
        }
      }
    }
    return nil
  }
}
