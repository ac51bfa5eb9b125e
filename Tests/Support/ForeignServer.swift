import Foundation

/// `Interoperation/server.py` with one peer; it goes with the test.
package final class ForeignServer: Sendable {
  package let port: Int
  private let process: Process

  /// - Parameters:
  ///   - peer: the name of a file in `Interoperation/servers`.
  ///   - wanted: the port; nil takes a free one.
  package init(_ peer: String, port wanted: Int? = nil) async throws {
    let process = Peers.process("server.py", [peer, "\(wanted ?? 0)"])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    let line = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var said = Data()
        while !said.contains(UInt8(ascii: "\n")) {
          let piece = output.fileHandleForReading.availableData
          if piece.isEmpty { break }
          said += piece
        }
        continuation.resume(returning: String(decoding: said, as: UTF8.self))
      }
    }
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.first == "ready", let port = words.last.flatMap({ Int($0) }) else {
      process.terminate()
      throw Peers.Failed(description: "the foreign server \(peer) did not start")
    }
    self.port = port
  }

  deinit { kill() }

  /// Ends the server at once, as a crash would.
  package func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
