import Foundation

/// Runs a program to its end.
struct ShellRun {
  let status: Int32
  let output: String
  let errors: String
  /// The lines of the output that are not empty.
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The folder of the built products of this test run.
  static var products: URL {
    // A test bundle stands beside the products it was built with.
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let candidates = [bundle, root.appendingPathComponent(".build/debug")]
    return candidates.first { FileManager.default.fileExists(atPath: $0.appendingPathComponent("martlet").path) }
      ?? bundle
  }

  /// Runs a script with the built command on the path, in `folder`.
  static func bash(_ script: String, in folder: URL? = nil) async throws -> ShellRun {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    if let folder { process.currentDirectoryURL = folder }
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] = products.path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    process.environment = environment
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    // Files rather than pipes: nothing can fill up, and children that outlive the script block no reader.
    let (out, err) = (scratch.appendingPathComponent("out"), scratch.appendingPathComponent("err"))
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    let handles = (try FileHandle(forWritingTo: out), try FileHandle(forWritingTo: err))
    // A process object outlives its process, and its files with it, unless they are closed.
    defer {
      try? handles.0.close()
      try? handles.1.close()
    }
    process.standardOutput = handles.0
    process.standardError = handles.1
    process.standardInput = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return ShellRun(
      status: process.terminationStatus, output: try String(contentsOf: out, encoding: .utf8),
      errors: try String(contentsOf: err, encoding: .utf8))
  }
}
