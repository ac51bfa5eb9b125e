import Foundation

/// The command `martlet` and the tour's files.
enum Command {
  /// The example's folder.
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The built command: beside this program, where one build leaves both.
  static func url() throws -> URL {
    let beside = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(fileURLWithPath: $0) }]
      .compactMap { $0?.resolvingSymlinksInPath().deletingLastPathComponent() }
    let build = folder.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build")
    let places = beside + ["debug", "release"].map { build.appendingPathComponent($0) }
    let candidates = places.map { $0.appendingPathComponent("martlet") }
    guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw TourFailure("there is no command martlet beside this program; swift build makes it")
    }
    return found
  }

  /// Runs the command, or another program, to its end, and answers what it printed.
  static func run(_ words: [String], program: URL? = nil) async throws -> String {
    let program = try program ?? url()
    let process = Process()
    process.executableURL = program
    process.arguments = words
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading
    // A thread that may wait.
    let text = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: String(decoding: output.readDataToEndOfFile(), as: UTF8.self))
      }
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let call = ([program.lastPathComponent] + words).joined(separator: " ")
      throw TourFailure("\(call) failed with \(process.terminationStatus)")
    }
    return text
  }
}
