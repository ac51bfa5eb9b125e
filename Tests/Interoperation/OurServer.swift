import Foundation
import MartletJSON
import MartletServer
import MartletTestSupport
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server of this package, with the fields that the foreign clients ask for.
final class OurServer: Sendable {
  let server: GraphQLServer
  /// Sources of `forever` that have not been stopped.
  let running: Count

  final class Count: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int) { count.withLock { $0 += number } }
  }

  /// - Parameter key: the only key that is accepted; nil accepts every client.
  init(port: Int = 0, key: String? = nil) throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    if key == nil {
      configuration.access = .development
      configuration.log = .silent
    } else {
      // The SHA-256 of "interoperation".
      configuration.access = .keys(
        try AccessFile(
          """
          {"keys":[{"name":"peer",
          "sha256":"6f53532426a4561eeab188cb8dd68f43c02bbe2b214cf5f3be8c1ef5fcf469c0"}]}
          """))
    }
    configuration.port = port
    let running = Count()
    self.running = running
    configuration.resolvers = { Self.resolve(&$0, running) }
    server = try GraphQLServer(configuration)
    try server.start()
  }

  func stop() async { await server.stop() }

  var url: String { "http://127.0.0.1:\(server.port)/graphql" }

  private static let schema = """
    scalar Upload
    type Note @model { id: ID! text: String }
    type Slow { fast: Int late: Int }
    extend type Query { hello(name: String = "world"): String fails: String running: Int slow: Slow }
    extend type Mutation { keep(file: Upload!): String }
    type Subscription { tick(upTo: Int!, failAt: Int): Int forever: Int }
    """

  private static func resolve(_ resolvers: inout Resolvers, _ running: Count) {
    resolvers.compute("Query", "hello") { "hello " + ($0.arguments["name"]?.string ?? "") }
    resolvers.resolve("Query", "fails") { _ -> String? in throw ResolverError("it failed") }
    resolvers.compute("Query", "running") { _ in running.value }
    resolvers.compute("Query", "slow") { _ in ["fast": 1, "late": 2] as JSONValue }
    resolvers.resolve("Mutation", "keep") { request in
      let file = try Upload(request.arguments["file"])
      return "\(file.filename) \(String(decoding: file.bytes, as: UTF8.self))"
    }
    resolvers.stream("Subscription", "tick") { request in
      let last = request.arguments["upTo"]?.int ?? 0
      let failing = request.arguments["failAt"]?.int
      return AsyncThrowingStream<JSONValue, any Error> { continuation in
        for number in 1...max(1, last) {
          if number == failing { return continuation.finish(throwing: ResolverError("it failed at \(number)")) }
          continuation.yield(.int(number))
        }
        continuation.finish()
      }
    }
    resolvers.stream("Subscription", "forever") { _ in
      running.add(1)
      return AsyncStream<JSONValue> { continuation in
        let task = Task {
          var number: Int64 = 0
          while !Task.isCancelled {
            number += 1
            continuation.yield(.int(number))
            try? await Task.sleep(for: .milliseconds(5))
          }
        }
        continuation.onTermination = { _ in
          task.cancel()
          running.add(-1)
        }
      }
    }
  }

  /// Writes a note once there is a subscription, and waits until it has been delivered.
  func write(_ text: String) async throws {
    while try await metric("martlet_subscriptions") == 0 { await Task.yield() }
    try await server.transaction { try $0.create("Note", ["text": .string(text)]) }
    while try await metric("martlet_feed_deliveries_total") == 0 { await Task.yield() }
  }

  private func metric(_ name: String) async throws -> Int {
    guard let url = URL(string: "http://127.0.0.1:\(server.port)/metrics") else { return 0 }
    let text = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    guard let value = Int(line?.split(separator: " ").last ?? "") else {
      throw Peers.Failed(description: "no metric \(name)")
    }
    return value
  }
}

extension Row {
  /// The peer as a client of our server.
  func asClient() async -> Outcome {
    var outcome = Outcome()
    do {
      let ours = try OurServer()
      let scenarios =
        ["values", "failing", "refused", "cancelled"] + (checks.contains(.requests) ? ["requests"] : [])
      let told = try await Peers.run("client.py", [peer, dialect, ours.url] + scenarios)
      judge(told, ours, &outcome)
      await ours.stop()
    } catch {
      outcome.failures.append("\(error)")
    }
    if checks.contains(.keys) { await outcome.note(.keys) { try await withKeys() } }
    if checks.contains(.reconnect) { await outcome.note(.reconnect) { try await acrossRestart() } }
    return outcome
  }

  private func judge(_ told: JSONValue, _ ours: OurServer, _ outcome: inout Outcome) {
    let numbers: JSONValue = [["tick": 1], ["tick": 2], ["tick": 3]]
    let values = told["values"]
    outcome.note(.values, values?["values"] == numbers, "\(told)")
    if checks.contains(.completion) {
      outcome.note(.completion, values?["ending"] == "completed" && values?["errors"] == [], "\(told)")
    }
    let (failing, refused) = (told["failing"], told["refused"])
    outcome.note(
      .errors,
      failing?["values"]?[0] == ["tick": 1] && Self.messages(failing).contains("failed at 2")
        && refused?["values"] == [] && Self.messages(refused).contains("nothing"), "\(told)")
    outcome.note(
      .cancellation,
      told["cancelled"]?["values"] == [["forever": 1], ["forever": 2]] && told["cancelled"]?["ending"] == "left"
        && ours.running.value == 0, "\(told)")
    guard checks.contains(.requests) else { return }
    outcome.note(
      .requests,
      told["requests"]?["values"] == [["hello": "hello you"], ["createNote": ["text": "made"]]]
        && told["requests"]?["errors"] == ["it failed"], "\(told)")
  }

  private static func messages(_ told: JSONValue?) -> String {
    (told?["errors"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
  }

  /// A key that the server knows is accepted; another is refused.
  private func withKeys() async throws {
    let ours = try OurServer(key: "interoperation")
    let told = try await Peers.run("client.py", [peer, dialect, ours.url, "denied", "allowed"])
    await ours.stop()
    try expect(told["allowed"]?["values"] == [["tick": 1]] && told["allowed"]?["errors"] == [], "\(told)")
    try expect(told["denied"]?["values"] == [] && told["denied"]?["ending"] == "failed", "\(told)")
  }

  /// A write before a restart arrives, and after it the next one.
  private func acrossRestart() async throws {
    let first = try OurServer()
    let port = first.server.port
    async let told = Peers.run("client.py", [peer, dialect, first.url, "reconnect"])
    try await first.write("before")
    await first.stop()
    let second = try OurServer(port: port)
    try await second.write("after")
    let values = try await told["reconnect"]?["values"]
    await second.stop()
    try expect(
      values == [["onCreateNote": ["text": "before"]], ["onCreateNote": ["text": "after"]]],
      "\(String(describing: values))")
  }
}
