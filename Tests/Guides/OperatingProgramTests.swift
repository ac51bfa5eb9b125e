import Foundation
import Martlet
import MartletServer
import MartletTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The programs of the guides for operators.
@Suite(.timeLimit(.minutes(1))) struct OperatingProgramTests {
  private static let schema = "type Todo @model { id: ID! text: String! }"
  private static let key = "martlet_" + String(repeating: "0", count: 64)
  /// An access file with this key.
  private static let access = """
    {"keys": [{"name": "test", "sha256": "8027e55fe110b1379ac24902f1f768e33bd681f02a4b999837eae0749de72ab4"}]}
    """

  private static func with<Value>(
    _ configuration: ServerConfiguration, _ body: (_ server: GraphQLServer, _ url: URL) async throws -> Value
  ) async throws -> Value {
    var configuration = configuration
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
    do {
      let value = try await body(server, url)
      await server.stop()
      return value
    } catch {
      await server.stop()
      throw error
    }
  }

  private static func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guides-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private static func development(_ schema: String = schema) -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    return configuration
  }

  private static func status(_ url: URL, _ body: Data? = nil, key: String? = nil) async throws -> Int {
    var request = URLRequest(url: url)
    request.httpBody = body
    request.httpMethod = body == nil ? "GET" : "POST"
    if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    request.setValue(key, forHTTPHeaderField: "x-api-key")
    let (_, response) = try await URLSession.shared.data(for: request)
    return (response as? HTTPURLResponse)?.statusCode ?? 0
  }

  @Test func `the guide's copies hold what was written before each, and only the newest are kept`() async throws {
    try await Self.inFolder { folder in
      let data = folder.appendingPathComponent("data")
      var copies = KeepCopies(data: data, copies: folder.appendingPathComponent("copies"))
      copies.kept = 2
      copies.martlet = try Programs.url("martlet")
      var configuration = Self.development()
      configuration.data = .folder(data.path)
      let keeper = copies
      try await Self.with(configuration) { server, _ in
        for number in 1...3 {
          try await server.transaction { try $0.create("Todo", ["id": .string("\(number)"), "text": "kept"]) }
          _ = try await keeper.copy(at: Date(timeIntervalSince1970: Double(number)))
        }
        try await server.transaction { try $0.create("Todo", ["id": "4", "text": "later"]) }
      }
      let made = try keeper.made()
      #expect(made.map(\.lastPathComponent) == ["1970-01-01T000002Z", "1970-01-01T000003Z"])
      for (copy, count) in zip(made, [2, 3]) {
        let found = try await keeper.drill(copy, schema: Self.schema, model: "Todo")
        #expect(found.items.count == count && found.items.allSatisfy { $0["text"] == "kept" })
      }
      await #expect(throws: KeepCopies.Failure.self) { try await keeper.copy(at: Date(timeIntervalSince1970: 3)) }
    }
  }

  @Test func `the guide's server with keys has the console, and another one has none`() async throws {
    let shown = try ShowConsole.configuration(schema: Self.schema, access: Self.access)
    var hidden = shown
    hidden.allowsIntrospection = nil
    for (given, expected) in [(shown, 200), (hidden, 404)] {
      var configuration = given
      configuration.port = 0
      let answered = try await Self.with(configuration) { try await Self.status($1.appendingPathComponent("console")) }
      #expect(answered == expected)
    }
  }

  @Test func `the guide's limits refuse large requests and callers that ask too often`() async throws {
    var configuration = SetLimits.configuration(schema: Self.schema)
    configuration.access = .keys(try AccessFile(Self.access))
    #expect(configuration.limits.store.retention == .seconds(2_592_000))
    try await Self.with(configuration) { _, url in
      let graphql = url.appendingPathComponent("graphql")
      let padding = String(repeating: " ", count: 70_000)
      let large = Data(#"{"query": "{ __typename }\#(padding)"}"#.utf8)
      #expect(try await Self.status(graphql, large, key: Self.key) == 413)
      let client = try ShowCredentials.client(of: graphql, key: Self.key)
      var refusals: [String] = []
      for _ in 0..<200 where refusals.isEmpty {
        do {
          _ = try await client.query("{ __typename }")
        } catch let error as GraphQLClientError {
          refusals.append(error.errors.first?["extensions"]?["code"]?.string ?? error.message)
        }
      }
      #expect(refusals == ["RATE_LIMITED"])
    }
  }

  @Test func `the guide's service takes its folders, ports and key from the environment`() async throws {
    try await Self.inFolder { folder in
      try Self.access.write(to: folder.appendingPathComponent("access.json"), atomically: true, encoding: .utf8)
      var environment = [
        "STATE_DIRECTORY": folder.path, "CONFIGURATION_DIRECTORY": folder.path, "PORT": "0", "ADMIN_PORT": "0",
      ]
      let configuration = try ServeAsService.configuration(
        schema: Self.schema, environment: environment, process: 7)
      #expect(configuration.listeningSocket == nil)
      try await Self.with(configuration) { server, url in
        let query = Data(#"{"query": "{ __typename }"}"#.utf8)
        #expect(try await Self.status(url.appendingPathComponent("graphql"), query) == 401)
        #expect(try await Self.status(url.appendingPathComponent("graphql"), query, key: Self.key) == 200)
        let administration = try #require(URL(string: "http://127.0.0.1:\(server.adminPort)"))
        #expect(try await Self.status(administration.appendingPathComponent("readyz")) == 200)
        #expect(try await Self.status(url.appendingPathComponent("metrics"), key: Self.key) == 404)
        let figures = try await ReadFigures.read(from: administration)
        #expect(figures["martlet_http_requests_total"] >= 3)
      }
      #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("data").path))
      environment["LISTEN_FDS"] = "1"
      for (process, socket) in [("7", 3), ("8", nil)] as [(String, Int32?)] {
        environment["LISTEN_PID"] = process
        let given = try ServeAsService.configuration(schema: Self.schema, environment: environment, process: 7)
        #expect(given.listeningSocket == socket)
      }
    }
  }

  @Test func `the guide's readings say how many writes and events there were between them`() async throws {
    try await Self.with(Self.development()) { server, url in
      let client = try GraphQLClient(url: url.appendingPathComponent("graphql"))
      let seen = client.subscribe("subscription { onCreateTodo { id } }")
      try await seen.ready()
      let before = try await ReadFigures.read(from: url)
      for _ in 0..<4 { try await client.mutate("mutation { createTodo(input: {text: \"tea\"}) { id text } }") }
      var events = seen.makeAsyncIterator()
      for _ in 0..<4 { #expect(try await events.next()?.data != nil) }
      let load = try await ReadFigures.read(from: url).load(since: before, seconds: 2)
      #expect(load.writesPerSecond == 2 && load.eventsPerSecond == 2)
      #expect(load.connections >= 1 && load.subscriptions == 1)
      withExtendedLifetime(seen) {}
    }
  }

  @Test func `the guide's comparison names the query that two servers answer differently`() async throws {
    func configuration(_ fields: String) -> ServerConfiguration {
      Self.development("type Todo @model { id: ID! text: String! \(fields) }")
    }
    try await Self.with(configuration("done: Boolean")) { old, running in
      try await Self.with(configuration("")) { duplicate, new in
        for server in [old, duplicate] {
          try await server.transaction { try $0.create("Todo", ["id": "1", "text": "tea"]) }
        }
        let servers = try CompareServers(
          running: running.appendingPathComponent("graphql"), new: new.appendingPathComponent("graphql"))
        let same = "{ getTodo(id: \"1\") { text } }"
        let different = "{ getTodo(id: \"1\") { done } }"
        let found = try await servers.differences([same, different])
        #expect(found.map(\.query) == [different])
        #expect(found.first?.before == #"{"getTodo":{"done":null}}"#)
        #expect(found.first?.after.contains("done") == true)
      }
    }
  }
}
