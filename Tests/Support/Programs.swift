package import Foundation

/// The programs of the package, as they were built, in processes of their own.
package enum Programs {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Beside the test bundle, where one build leaves both.
  package static func url(_ name: String) throws -> URL {
    let beside = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(fileURLWithPath: $0) }]
      .compactMap { $0?.deletingLastPathComponent() }
    let places = beside + ["debug", "release"].map { root.appendingPathComponent(".build/\($0)") }
    let candidates = places.map { $0.appendingPathComponent(name) }
    guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw Failure("there is no program \(name); swift build makes it")
    }
    return found
  }
}

/// A program that runs, and the lines it prints.
package final class RunningProgram: Sendable {
  private let process: Process
  private let output: FileHandle
  private let errors: FileHandle
  private let input: FileHandle?

  /// - Parameter holdsInput: keeps the program's standard input open until `stop`; otherwise it is empty.
  package init(_ name: String, _ words: [String], holdsInput: Bool = false) throws {
    process = Process()
    process.executableURL = try Programs.url(name)
    process.arguments = words
    let (pipe, complaints) = (Pipe(), Pipe())
    process.standardOutput = pipe
    process.standardError = complaints
    let held = holdsInput ? Pipe() : nil
    process.standardInput = held ?? FileHandle.nullDevice
    input = held?.fileHandleForWriting
    output = pipe.fileHandleForReading
    errors = complaints.fileHandleForReading
    try process.run()
  }

  /// The next line, without its end; what is there when the program ends before.
  package func line() async -> String {
    await onThread { [output] in
      var line = Data()
      while let byte = try? output.read(upToCount: 1), let first = byte.first, first != 0x0A { line.append(first) }
      return String(decoding: line, as: UTF8.self)
    }
  }

  /// What is printed until the end, and how it ended.
  package func end() async -> (status: Int32, output: String, errors: String) {
    let said = await onThread { [output] in String(decoding: output.readDataToEndOfFile(), as: UTF8.self) }
    let complaints = await onThread { [errors] in String(decoding: errors.readDataToEndOfFile(), as: UTF8.self) }
    process.waitUntilExit()
    return (process.terminationStatus, said, complaints)
  }

  /// Ends the program and waits until it has ended: by the end of its input where that is held, otherwise by a signal.
  package func stop() {
    if let input { try? input.close() } else { process.terminate() }
    process.waitUntilExit()
  }

  /// Ends the program by a signal, whatever it is doing.
  package func terminate() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Waits on a thread that may wait. When the test's time is up the program is ended, and with it what it prints.
  private func onThread(_ work: @escaping @Sendable () -> String) async -> String {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
      }
    } onCancel: {
      process.terminate()
    }
  }
}
