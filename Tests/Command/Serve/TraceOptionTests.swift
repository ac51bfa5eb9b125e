import Foundation
import MartletJSON
import MartletServer
import MartletTestSupport
import Testing

/// `martlet serve --trace-to`.
@Suite(.timeLimit(.minutes(2))) struct TraceOptionTests {
  /// A server that takes traces, as OpenTelemetry's collectors do, and hands their names out.
  private static func collector() throws -> (server: GraphQLServer, names: AsyncStream<String>) {
    let (stream, names) = AsyncStream.makeStream(of: String.self)
    var configuration = ServerConfiguration(schema: "type T @model { id: ID! }")
    configuration.data = .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    configuration.endpoints = [
      try ServerEndpoint("/v1/traces", methods: ["POST"], access: .open) { request, response in
        let scopes = try JSONValue(parsing: request.body)["resourceSpans"]?[0]?["scopeSpans"]?.array ?? []
        for span in scopes.flatMap({ $0["spans"]?.array ?? [] }) { names.yield(span["name"]?.string ?? "") }
        await response.send(200, headers: [("Content-Type", "application/json")], body: Array("{}".utf8))
      }
    ]
    let server = try GraphQLServer(configuration)
    try server.start()
    return (server, stream)
  }

  @Test func `an operation of a server with the option arrives at the collector`() async throws {
    let (collector, names) = try Self.collector()
    let schema = FileManager.default.temporaryDirectory.appendingPathComponent("traced-\(UUID().uuidString).graphql")
    try "type Note @model { id: ID! }".write(to: schema, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: schema) }
    let program = try RunningProgram(
      "martlet",
      [
        "serve", schema.path, "--memory", "--dev", "--port", "0", "--log-level", "error", "--trace-to",
        "http://127.0.0.1:\(collector.port)/v1/traces",
      ])
    defer { program.stop() }
    let url = try #require((await program.line()).split(separator: " ").last.map(String.init))
    let query = try RunningProgram("martlet", ["query", url, "query Seen { listNotes { items { id } } }"])
    #expect(await query.end().status == 0)
    var found = false
    for await name in names where name.contains("Seen") {
      found = true
      break
    }
    #expect(found)
    await collector.stop()
  }

  @Test func `what is not a collector's address ends the start`() async throws {
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; echo 'type T @model { id: ID! }' > s
      martlet serve s --memory --dev --port 0 --trace-to collector
      """)
    #expect(run.status == 78)
    #expect(run.errors.hasPrefix("\"collector\" is not a collector's address such as http://"), "\(run.errors)")
  }
}
