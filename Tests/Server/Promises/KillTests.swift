import Foundation
import Martlet
import MartletJSON
import Testing

/// P2, P3 and P17 against a server in a process of its own that is killed without warning under load.
@Suite(.serialized, .timeLimit(.minutes(2))) struct KillTests {
  private struct Child {
    let process: Process
    let port: Int

    func kill() {
      #if canImport(Glibc)
        Foundation.kill(process.processIdentifier, SIGKILL)
      #else
        process.terminate()
      #endif
      process.waitUntilExit()
    }
  }

  /// `martlet serve`, listening.
  private static func serve(_ folder: String, port: Int = 0) throws -> Child {
    let process = Process()
    let command = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    process.executableURL = command.deletingLastPathComponent().appendingPathComponent("martlet")
    process.arguments = [
      "serve", folder + "/schema.graphql", "--data", folder + "/data", "--dev", "--port", "\(port)", "--loops", "1",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("/graphql\n") {
      let piece = output.fileHandleForReading.availableData
      guard !piece.isEmpty else { throw CancellationError() }
      text += String(decoding: piece, as: UTF8.self)
    }
    let port = text.split(separator: ":").last?.prefix { $0 != "/" } ?? ""
    return Child(process: process, port: try #require(Int(port)))
  }

  private static let command =
    (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
    .appendingPathComponent("martlet").path

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: command)))
  func `P2, P3, P17: acknowledged writes survive kill -9 under load, and the subscriber misses and repeats nothing`()
    async throws
  {
    let folder = try TemporaryFolder()
    try "type Note @model { id: ID! number: Int! }".write(
      toFile: folder.path + "/schema.graphql", atomically: true, encoding: .utf8)
    var child = try Self.serve(folder.path)
    let port = child.port
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.reconnect.longestDelay = .milliseconds(200)
    let client = try GraphQLClient(
      url: try #require(URL(string: "ws://127.0.0.1:\(port)/graphql")), configuration: configuration)
    let stream = client.subscribe("subscription { onCreateNote { number } }")
    try await stream.ready()
    let collecting = Task {
      var seen: [Int64] = []
      var offsets: [Int64] = []
      var gaps = 0
      for try await event in stream {
        if event.gap != nil { gaps += 1 }
        guard let number = event.data?["onCreateNote"]?["number"]?.int else { continue }
        offsets.append(event.cursor?.offset ?? -1)
        seen.append(number)
        if number == -1 { break }
      }
      return (seen, offsets, gaps)
    }
    var acknowledged: [Int64] = []
    var number: Int64 = 0
    for round in 0..<4 {
      for _ in 0..<40 {
        number += 1
        let made = try? await client.mutate("mutation { createNote(input: {number: \(number)}) { id } }")
        if made?.errors.isEmpty == true { acknowledged.append(number) }
      }
      if round < 3 {
        // Killed while writes are under way.
        let (answers, answered) = AsyncStream<Void>.makeStream()
        async let storm: [Int64] = Self.storm(client, from: number + 1) { answered.yield() }
        var waiting = answers.makeAsyncIterator()
        for _ in 0..<20 { await waiting.next() }
        child.kill()
        child = try Self.serve(folder.path, port: port)
        acknowledged += await storm
        number += 200
      }
    }
    while (try? await client.mutate("mutation { createNote(input: {number: -1}) { id } }"))?.errors.isEmpty != true {}
    let (seen, offsets, gaps) = try await collecting.value
    #expect(gaps == 0)
    #expect(offsets == offsets.sorted() && Set(offsets).count == offsets.count)
    #expect(Set(seen).count == seen.count, "a note twice")
    #expect(Set(acknowledged).subtracting(seen).isEmpty, "acknowledged and lost")
    // The log holds nothing but creates, and nothing is deleted: every record has had its event.
    let all = try await client.query("{ listNotes(limit: 1000) { items { number } } }")
    let records = all.data?["listNotes"]?["items"]?.array?.compactMap { $0["number"]?.int }
    #expect(records?.sorted() == seen.sorted())
    client.shutDown()
    child.kill()
  }

  /// Writes at once; answers which were acknowledged.
  private static func storm(_ client: GraphQLClient, from first: Int64, _ told: @escaping @Sendable () -> Void) async
    -> [Int64]
  {
    await withTaskGroup(of: Int64?.self) { group in
      for number in first..<first + 200 {
        group.addTask {
          let made = try? await client.mutate("mutation { createNote(input: {number: \(number)}) { id } }")
          told()
          return made?.errors.isEmpty == true ? number : nil
        }
      }
      var acknowledged: [Int64] = []
      for await number in group { if let number { acknowledged.append(number) } }
      return acknowledged
    }
  }
}
