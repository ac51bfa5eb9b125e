import Foundation
import Martlet
import Testing

/// The example as a process: `GraphQLServer.run()` in a program of its own.
@Suite(.timeLimit(.minutes(1))) struct RunTests {
  private let process = Process()
  private let errors = Pipe()

  private func start(_ words: [String]) throws {
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("HandWritten")
    process.arguments = words
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  /// The log until the server listens, and its port; all that was said where it ends before.
  private func listening() -> (text: String, port: Int?) {
    var text = ""
    while true {
      let data = errors.fileHandleForReading.availableData
      if data.isEmpty { return (text, nil) }
      text += String(decoding: data, as: UTF8.self)
      // The line is whole when the next word or its end has come.
      if let rest = text.components(separatedBy: "port=").dropFirst().first,
        let end = rest.firstIndex(where: \.isWhitespace)
      {
        return (text, Int(rest[..<end]))
      }
    }
  }

  private func rest() -> String {
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a program that runs its server ends gracefully at a signal, with its log on standard error`(
    number: Int32
  ) async throws {
    try start(["0"])
    var text = listening().text
    #expect(text.contains(" info The server is listening. address=127.0.0.1 port="))
    kill(process.processIdentifier, number)
    text += rest()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(text.contains(" info The server has stopped."), "\(text)")
  }

  /// `martlet_` and 64 zeros, and its SHA-256.
  private static let key = "martlet_" + String(repeating: "0", count: 64)
  private static let file = """
    { "keys": [{ "name": "roof", "sha256": "8027e55fe110b1379ac24902f1f768e33bd681f02a4b999837eae0749de72ab4" }] }
    """

  private func client(_ port: Int, _ key: String?) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    if let key { configuration.credentials = { _ in .bearer(key) } }
    return try GraphQLClient(url: #require(URL(string: "ws://127.0.0.1:\(port)/graphql")), configuration: configuration)
  }

  @Test func `with an access file the holder of a key asks and follows, and others do neither`() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try Self.file.write(to: file, atomically: true, encoding: .utf8)
    try start(["0", "--access", file.path])
    defer { process.terminate() }
    let (text, found) = listening()
    let port = try #require(found, "\(text)")
    let holder = try client(port, Self.key)
    let answer = try await holder.query("{ fahrenheit(celsius: 100) }", as: JSONValue.self)
    #expect(answer.data == ["fahrenheit": 212.0])
    // A reading comes each second.
    let readings = holder.subscribe("subscription { readings { station } }", as: JSONValue.self)
    var iterator = readings.makeAsyncIterator()
    #expect(try await iterator.next()?.data?["readings"]?["station"]?.string == "roof")
    for key in [nil, Self.key + "1"] {
      let other = try client(port, key)
      await #expect(throws: GraphQLClientError.self) {
        try await other.query("{ fahrenheit(celsius: 100) }", as: JSONValue.self)
      }
      await #expect(throws: GraphQLClientError.self) {
        for try await _ in other.subscribe("subscription { readings { station } }", as: JSONValue.self) {}
      }
      other.shutDown()
    }
    holder.shutDown()
  }

  @Test(arguments: [["0", "--access"], ["0", "--access", "/nowhere/access.json"], ["zero"]])
  func `words that mean nothing end the program with a reason and without a crash`(words: [String]) throws {
    try start(words)
    let text = rest()
    #expect(process.terminationReason == .exit && process.terminationStatus == 1, "\(text)")
    #expect(!text.isEmpty)
  }
}
