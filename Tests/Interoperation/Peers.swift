import Foundation
import MartletJSON
import Testing

/// The foreign programs of `Interoperation/`, installed by `Interoperation/prepare` (`make test` calls it). Without
/// them the suites are skipped and say so.
enum Peers {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let python = root.appendingPathComponent(".build/interoperation/venv/bin/python").path

  static let areInstalled =
    FileManager.default.fileExists(atPath: root.appendingPathComponent(".build/interoperation/installed").path)
  static let missing: Comment = "run Interoperation/prepare; it says what this machine lacks"

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// A process that runs a script of `Interoperation/`.
  static func process(_ script: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [root.appendingPathComponent("Interoperation/\(script)").path] + arguments
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    process.environment = environment
    return process
  }

  /// Runs a script to its end and answers the JSON that it printed. The thread that waits is one of its own.
  static func run(_ script: String, _ arguments: [String]) async throws -> JSONValue {
    let process = process(script, arguments)
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let printed: Data = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus == 0 {
          continuation.resume(returning: printed)
        } else {
          let text = String(decoding: said.suffix(2_000), as: UTF8.self)
          continuation.resume(throwing: Failed(description: "\(script) \(arguments): \(text)"))
        }
      }
    }
    return try JSONValue(parsing: String(decoding: printed, as: UTF8.self))
  }

  /// The version of each package, as the run itself has it.
  static func versions() async throws -> [String: String] {
    let told = try await run("versions.py", [])
    return (told.object ?? JSONObject()).reduce(into: [:]) { $0[$1.key] = $1.value.string }
  }
}
