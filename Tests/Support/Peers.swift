package import Foundation
package import MartletJSON

/// The foreign programs of `Interoperation/`, installed by `Interoperation/prepare` (`make test` calls it). Without
/// them the suites are skipped and say so.
package enum Peers {
  private static let python = Programs.root.appendingPathComponent(".build/interoperation/venv/bin/python").path

  package static let areInstalled =
    FileManager.default.fileExists(atPath: Programs.root.appendingPathComponent(".build/interoperation/installed").path)
  /// Why a suite is skipped without them.
  package static let missing = "run Interoperation/prepare; it says what this machine lacks"

  package struct Failed: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  /// A process that runs a script of `Interoperation/`.
  package static func process(_ script: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [Programs.root.appendingPathComponent("Interoperation/\(script)").path] + arguments
    var environment = ProcessInfo.processInfo.environment
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    process.environment = environment
    return process
  }

  /// Runs a script to its end and answers the JSON that it printed. The thread that waits is one of its own.
  package static func run(_ script: String, _ arguments: [String]) async throws -> JSONValue {
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
  package static func versions() async throws -> [String: String] {
    let told = try await run("versions.py", [])
    return (told.object ?? JSONObject()).reduce(into: [:]) { $0[$1.key] = $1.value.string }
  }
}
