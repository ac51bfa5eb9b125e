import Foundation
import MartletTestSupport

/// The `martlet` command as a process.
enum Command {
  /// Runs `martlet` and returns its exit code and output.
  static func run(_ words: String...) async throws -> (code: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = try Programs.url("martlet")
    process.arguments = words
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    let read = Task.detached { output.fileHandleForReading.readDataToEndOfFile() }
    let readErrors = Task.detached { errors.fileHandleForReading.readDataToEndOfFile() }
    let code = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    return (
      code, String(decoding: await read.value, as: UTF8.self), String(decoding: await readErrors.value, as: UTF8.self)
    )
  }

  /// A server as a process; its port is in its first line.
  static func serve(
    _ folder: TemporaryFolder, _ channels: String, environment: [String: String] = [:]
  ) async throws -> (Process, Int) {
    let base = URL(fileURLWithPath: folder.path)
    try Served.schema.write(to: base.appendingPathComponent("schema.graphql"), atomically: true, encoding: .utf8)
    try channels.write(to: base.appendingPathComponent("channels.json"), atomically: true, encoding: .utf8)
    try #"{"rules": {".read": true, ".write": true}}"#
      .write(to: base.appendingPathComponent("rules.json"), atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = try Programs.url("martlet")
    process.arguments = [
      "serve", base.path + "/schema.graphql", "--data", base.path + "/data", "--dev", "--port", "0", "--loops", "1",
      "--rules", base.path + "/rules.json", "--channels", base.path + "/channels.json", "--limit",
      "channels.firstPause=2ms", "--limit", "channels.longestPause=20ms", "--limit", "channels.attempts=3",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let port: Int = try await Task.detached {
      var text = ""
      while true {
        let piece = output.fileHandleForReading.availableData
        guard !piece.isEmpty else { throw Failed(text: text) }
        text += String(decoding: piece, as: UTF8.self)
        if let place = text.range(of: #"http://127\.0\.0\.1:\d+/graphql"#, options: .regularExpression),
          let port = Int(text[place].dropFirst("http://127.0.0.1:".count).prefix { $0.isNumber })
        {
          return port
        }
      }
    }.value
    return (process, port)
  }

  private struct Failed: Error { var text: String }
}
