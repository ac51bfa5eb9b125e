import Foundation

/// A program run to its end, with an end set to it.
struct ToolRun: Sendable {
  let status: Int32
  let output: String
  let errors: String

  /// - Parameter seconds: after this long it is ended, with status 124.
  init(
    _ program: String, _ arguments: [String], in folder: URL, environment: [String: String] = [:], seconds: Int = 120
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["timeout", "-k", "5", "\(seconds)", program] + arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    // Files rather than pipes: nothing can fill up.
    let scratch = folder.appendingPathComponent(".run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
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
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    status = process.terminationStatus
    output = try String(contentsOf: out, encoding: .utf8)
    errors = try String(contentsOf: err, encoding: .utf8)
  }

  /// The lines of standard output.
  var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }

  /// The first of `PATH` that has a program of this name.
  static func find(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

/// Why a part of the workshop did not do what it should.
struct WorkshopError: Error, CustomStringConvertible {
  let description: String
}

/// Runs `body` for each item, a few at a time, and answers in the items' order.
func inParallel<Item: Sendable, Answer: Sendable>(
  _ items: [Item], _ body: @escaping @Sendable (Item) async -> Answer
) async -> [Answer] {
  await withTaskGroup(of: (Int, Answer).self) { group in
    var answers: [Int: Answer] = [:]
    for (index, item) in items.enumerated() {
      if index >= ProcessInfo.processInfo.activeProcessorCount, let (done, answer) = await group.next() {
        answers[done] = answer
      }
      group.addTask { (index, await body(item)) }
    }
    for await (done, answer) in group { answers[done] = answer }
    return items.indices.compactMap { answers[$0] }
  }
}
