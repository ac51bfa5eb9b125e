import Foundation
import MartletDatasync

/// Who is watching which gate, live: each watcher is a value of the tree that the server removes when its program has
/// been gone for a grace.
@main struct Presence {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  struct Usage: Error, CustomStringConvertible {
    let description =
      "Presence URL board | watch GATE NAME [--grace SECONDS], each [--key KEY]; both end with the standard input"
  }

  static func run(_ given: [String]) async throws {
    var words = given
    var key: String?
    // A server that is not started with --dev asks for an API key or a token.
    if let option = words.firstIndex(of: "--key") {
      guard words.indices.contains(option + 1) else { throw Usage() }
      key = words.remove(at: option + 1)
      words.remove(at: option)
    }
    guard words.count >= 2 else { throw Usage() }
    var configuration = DatasyncConfiguration(url: words[0])
    if let key { configuration.connection.credentials = { _ in .bearer(key) } }
    let application = MartletApplication(configuration: configuration)
    defer { application.datasyncService.shutDown() }
    let gates = Gates(application)
    switch (words[1], words.count) {
    case ("board", 2): try await until(endOfInput) { try await gates.showBoard() }
    case ("watch", 4), ("watch", 6):
      guard words.count == 4 || words[4] == "--grace", let grace = words.count == 4 ? 10 : Int(words[5]) else {
        throw Usage()
      }
      try await gates.watch(words[2], as: words[3], grace: .seconds(grace)) { await endOfInput() }
    default: throw Usage()
    }
  }

  /// Runs `body` until `end` returns.
  private static func until(
    _ end: @escaping @Sendable () async -> Void, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await body() }
      group.addTask { await end() }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Returns when the standard input ends, or is asked for the end by an empty line.
  @Sendable private static func endOfInput() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while let line = readLine(), !line.isEmpty {}
        continuation.resume()
      }
    }
  }
}
