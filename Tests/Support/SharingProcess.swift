import Foundation
import Synchronization

/// A `martlet-lab share` with its lines in and out.
package final class SharingProcess: Sendable {
  private let process: Process
  private let input: Pipe
  private let lines: AsyncStream<String>

  /// What has come of a line that is not complete.
  private final class Partial: Sendable {
    let bytes = Mutex<[UInt8]>([])
  }

  /// Starts a process on the store at `path`, and returns when it has it open.
  package init(_ path: String, _ options: [String] = []) async throws {
    let program = Self.folder.appendingPathComponent("martlet-lab")
    process = Process()
    process.executableURL = program
    process.arguments = ["share", path] + options
    input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    let partial = Partial()
    output.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      if data.isEmpty {
        handle.readabilityHandler = nil
        continuation.finish()
      }
      partial.bytes.withLock { buffer in
        buffer += data
        while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: buffer[..<end], as: UTF8.self))
          buffer.removeFirst(end + 1)
        }
      }
    }
    try process.run()
    try await expect("open")
  }

  deinit {
    if process.isRunning { kill() }
  }

  /// The folder of the built programs: that of the tests themselves.
  private static var folder: URL {
    #if os(Linux)
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    #else
      Bundle(for: SharingProcess.self).bundleURL.deletingLastPathComponent()
    #endif
  }

  package func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Waits for a line; others before it are passed over.
  package func expect(_ line: String) async throws {
    for await found in lines where found == line { return }
    throw Ended(line: line)
  }

  package struct Ended: Error {
    var line: String
  }

  /// Ends it as the system would: nothing of its own runs after it.
  package func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
