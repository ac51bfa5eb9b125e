import Foundation
import MartletRuntime

/// The example as a process of its own.
final class ExampleProcess: Sendable {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Beside the test bundle, where one build leaves both.
  static var executable: URL {
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("DepartureBoard")
    return FileManager.default.isExecutableFile(atPath: beside.path)
      ? beside : root.appendingPathComponent(".build/debug/DepartureBoard")
  }

  private let words: [String]
  private let log: URL
  private let current: Lock<Process?>

  /// Starts `DepartureBoard` with `words`; what it says goes to a file named `log`.
  init(_ words: [String], log: URL) throws {
    let files = ["--files", Self.root.appendingPathComponent("Examples/DepartureBoard").path]
    self.words = words.contains("--files") ? words : words + files
    self.log = log
    current = Lock(nil)
    try start()
  }

  private func start() throws {
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = words
    if !FileManager.default.fileExists(atPath: log.path) {
      _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    }
    let output = try FileHandle(forWritingTo: log)
    defer { try? output.close() }
    _ = try output.seekToEnd()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    current.withLock { $0 = process }
  }

  var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// SIGKILL, nothing is finished; then the same command again.
  func killAndRestart() throws {
    kill()
    try start()
  }

  func kill() {
    guard let process = current.withLock({ $0 }), process.isRunning else { return }
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for the end, on a thread that may wait. Answers whether it came within `seconds`.
  func ended(within seconds: Double) async -> Bool {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        let deadline = Date().addingTimeInterval(seconds)
        while let process = current.withLock({ $0 }), process.isRunning {
          if Date() > deadline { return continuation.resume(returning: false) }
          Thread.sleep(forTimeInterval: 0.01)
        }
        continuation.resume(returning: true)
      }
    }
  }

  /// Whether `text` is in what it says, within `seconds`.
  func says(_ text: String, within seconds: Double) async -> Bool {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        let deadline = Date().addingTimeInterval(seconds)
        while !output.contains(text) {
          if Date() > deadline { return continuation.resume(returning: false) }
          Thread.sleep(forTimeInterval: 0.01)
        }
        continuation.resume(returning: true)
      }
    }
  }

  /// The port a server process says it has.
  func port(within seconds: Double) async -> UInt16? {
    guard await says("/graphql", within: seconds) else { return nil }
    return output.split(whereSeparator: { ":/".contains($0) }).compactMap { UInt16($0) }.first
  }
}
