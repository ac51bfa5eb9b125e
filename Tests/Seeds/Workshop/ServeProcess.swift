import Foundation
import MartletSockets

/// `martlet serve` on a free port, with its data in memory.
final class ServeProcess: Sendable {
  private let process: Process
  /// `http://127.0.0.1:PORT/graphql`
  let url: String

  /// - Parameter key: what clients have to show; nil lets everybody in who is on this machine.
  init(_ command: String, schema: URL, key: String?, in folder: URL) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    var arguments = ["serve", schema.path, "--memory", "--port", "0", "--log-level", "error"]
    if let key {
      let digest = Digest.sha256(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let file = folder.appendingPathComponent("access.json")
      try Data(#"{"keys": [{"name": "seed", "sha256": "\#(digest)"}]}"#.utf8).write(to: file)
      arguments += ["--access", file.path]
    } else {
      arguments.append("--dev")
    }
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    self.process = process
    let said = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var said = Data()
        while !said.contains(UInt8(ascii: "\n")) {
          let more = pipe.fileHandleForReading.availableData
          if more.isEmpty { break }
          said += more
        }
        continuation.resume(returning: String(decoding: said, as: UTF8.self))
      }
    }
    guard let address = said.split(separator: " ").last?.split(separator: "\n").first, address.hasPrefix("http") else {
      throw WorkshopError(description: "martlet serve said \"\(said)\"")
    }
    url = String(address)
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
