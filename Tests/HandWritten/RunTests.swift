import Foundation
import Testing

/// The example as a process: `GraphQLServer.run()` in a program of its own.
@Suite(.timeLimit(.minutes(1))) struct RunTests {
  @Test(arguments: [SIGTERM, SIGINT])
  func `a program that runs its server ends gracefully at a signal, with its log on standard error`(
    number: Int32
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("HandWritten")
    process.arguments = ["0"]
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("port=") { text += String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self) }
    #expect(text.contains(" info The server is listening. address=127.0.0.1 port="))
    kill(process.processIdentifier, number)
    text += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(text.contains(" info The server has stopped."), "\(text)")
  }
}
