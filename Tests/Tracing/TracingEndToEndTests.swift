import Foundation
import Martlet
import MartletServer
import Testing

/// A trace from the client through the server's resolvers and store to the delivery, as a collector gets it.
@Suite(.timeLimit(.minutes(2))) struct TracingEndToEndTests {
  /// A collector: a server with one endpoint, which keeps what it is sent.
  private final class Collector: Sendable {
    struct Span: Sendable {
      var name: String
      var trace: String
      var id: String
      var parent: String?
      var attributes: [String: String]
      var failure: String?
      var start: Int64
      var end: Int64
    }

    let server: GraphQLServer
    private let stream: AsyncStream<Span>
    private let contentTypes: AsyncStream<String>

    /// - Parameter status: what it answers each request with, by their number from 1.
    init(status: @escaping @Sendable (Int) -> Int = { _ in 200 }) throws {
      let (stream, spans) = AsyncStream.makeStream(of: Span.self)
      let (types, seen) = AsyncStream.makeStream(of: String.self)
      let count = Counter()
      var configuration = ServerConfiguration(schema: "type Query { none: Int }")
      configuration.resolvers = { $0.compute("Query", "none") { _ in 0 } }
      configuration.access = .development
      configuration.log = .silent
      configuration.endpoints = [
        try ServerEndpoint("/v1/traces", methods: ["POST"], access: .open) { request, response in
          seen.yield("\(request.header("Content-Type") ?? "-") \(request.header("x-key") ?? "-")")
          let answer = status(await count.next())
          if answer == 200 {
            for span in Self.spans(in: try JSONValue(parsing: request.body)) { spans.yield(span) }
          }
          await response.send(answer, headers: [("Content-Type", "application/json")], body: Array("{}".utf8))
        }
      ]
      server = try GraphQLServer(configuration)
      self.stream = stream
      contentTypes = types
      try server.start()
    }

    private actor Counter {
      var value = 0
      func next() -> Int {
        value += 1
        return value
      }
    }

    private static func spans(in body: JSONValue) -> [Span] {
      let scopes = (body["resourceSpans"]?.array ?? []).flatMap { $0["scopeSpans"]?.array ?? [] }
      return scopes.flatMap { $0["spans"]?.array ?? [] }.map { span in
        var attributes: [String: String] = [:]
        for attribute in span["attributes"]?.array ?? [] {
          let value = attribute["value"]
          attributes[attribute["key"]?.string ?? ""] = value?["stringValue"]?.string ?? value?["intValue"]?.string
        }
        return Span(
          name: span["name"]?.string ?? "", trace: span["traceId"]?.string ?? "", id: span["spanId"]?.string ?? "",
          parent: span["parentSpanId"]?.string, attributes: attributes, failure: span["status"]?["message"]?.string,
          start: span["startTimeUnixNano"]?.string.flatMap { Int64($0) } ?? 0,
          end: span["endTimeUnixNano"]?.string.flatMap { Int64($0) } ?? 0)
      }
    }

    var address: String { "http://127.0.0.1:\(server.port)/v1/traces" }

    /// The next spans, as many as are asked for, by their names.
    func next(_ count: Int) async -> [String: [Span]] {
      var found: [Span] = []
      for await span in stream {
        found.append(span)
        if found.count == count { break }
      }
      return Dictionary(grouping: found) { $0.name }
    }

    func firstRequest() async -> String? { await contentTypes.first { _ in true } }
  }

  private static let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  private static func server(
    _ collector: Collector?, delay: Duration = .milliseconds(1),
    _ configure: (inout TracingConfiguration) -> Void = { _ in }
  ) throws -> GraphQLServer {
    var configuration = ServerConfiguration(
      schema: """
        type Note @model { id: ID! text: String }
        extend type Query { hello(secret: String): String fails: String }
        """)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 2
    configuration.limits.tracing.delay = delay
    configuration.tracing = collector.map { collector in
      var tracing = TracingConfiguration(endpoint: collector.address)
      configure(&tracing)
      return tracing
    }
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "hello") { request in request.trace.map { "\($0)" } ?? "no trace" }
      resolvers.compute("Query", "fails") { _ -> String? in throw ResolverError("secret text") }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    return server
  }

  private static func url(_ server: GraphQLServer, _ scheme: String) throws -> URL {
    try #require(URL(string: "\(scheme)://127.0.0.1:\(server.port)/graphql"))
  }

  @Test(arguments: ["http", "ws"])
  func `a mutation's trace goes from its caller through the commit to the delivery`(scheme: String) async throws {
    let collector = try Collector()
    let server = try Self.server(collector) { $0.headers = [(name: "x-key", value: "secret")] }
    let client = try GraphQLClient(url: try Self.url(server, scheme), configuration: Self.configuration(scheme))
    let watcher = try GraphQLClient(url: try Self.url(server, "ws"))
    // A subscription has no span of its own, also where its caller has a trace.
    let subscriber = try #require(TraceContext("00-11111111111111111111111111111111-2222222222222222-01"))
    // Two groups: their selections differ.
    let streams = TraceContext.$current.withValue(subscriber) {
      [
        watcher.subscribe("subscription { onCreateNote { text } }"),
        watcher.subscribe("subscription { onCreateNote { id } }"),
      ]
    }
    for stream in streams { try await stream.ready() }
    let context = try #require(TraceContext(Self.caller))
    try await TraceContext.$current.withValue(context) {
      _ = try await client.mutate(#"mutation Write { createNote(input: {text: "secret"}) { text } }"#)
    }
    let spans = await collector.next(4)
    let operation = try #require(spans["mutation Write"]?.first)
    let commit = try #require(spans["commit"]?.first)
    #expect(operation.trace == "4bf92f3577b34da6a3ce929d0e0e4736" && operation.parent == "00f067aa0ba902b7")
    #expect(operation.attributes["graphql.operation.name"] == "Write" && operation.failure == nil)
    #expect(
      commit.trace == operation.trace && commit.parent == operation.id && commit.attributes["martlet.writes"] == "1")
    let deliveries = try #require(spans["deliver"])
    #expect(deliveries.count == 2)
    for delivery in deliveries {
      #expect(delivery.trace == operation.trace && delivery.parent == commit.id)
      #expect(delivery.attributes["martlet.members"] == "1")
      #expect(delivery.attributes["martlet.offset"] == commit.attributes["martlet.offset"])
    }
    for span in spans.values.joined() {
      #expect(span.start > 1_700_000_000_000_000_000 && span.start <= span.end)
      #expect(!"\(span)".contains("secret"), "a trace shows no values")
      #expect(span.trace == operation.trace)
    }
    #expect(await collector.firstRequest() == "application/json secret")
    for client in [client, watcher] { client.shutDown() }
    await server.stop()
    await collector.server.stop()
  }

  private static func configuration(_ scheme: String) -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    if scheme == "ws" { configuration.requestTransport = .socket }
    return configuration
  }

  @Test func `resolvers are parts of their operation, know its place, and their failures have no text`() async throws {
    let collector = try Collector()
    let server = try Self.server(collector)
    let client = try GraphQLClient(url: try Self.url(server, "http"))
    let context = try #require(TraceContext(Self.caller))
    let answer = try await TraceContext.$current.withValue(context) {
      try await client.query(#"query Both { hello(secret: "secret") fails }"#)
    }
    let spans = await collector.next(3)
    let operation = try #require(spans["query Both"]?.first)
    #expect(answer.data?["hello"]?.string == "00-\(operation.trace)-\(operation.id)-01")
    #expect(operation.failure == "1 errors")
    let (hello, fails) = (try #require(spans["Query.hello"]?.first), try #require(spans["Query.fails"]?.first))
    #expect(hello.parent == operation.id && hello.failure == nil)
    #expect(fails.parent == operation.id && fails.failure == "ResolverError")
    client.shutDown()
    await server.stop()
    await collector.server.stop()
  }

  @Test func `what the caller does not record is not recorded, and without a caller the share decides`() async throws {
    let collector = try Collector()
    let server = try Self.server(collector) { $0.share = 0 }
    let client = try GraphQLClient(url: try Self.url(server, "http"))
    let unsampled = try #require(TraceContext(String(Self.caller.dropLast(2)) + "00"))
    for trace in [nil, unsampled] {
      let answer = try await TraceContext.$current.withValue(trace) { try await client.query("{ hello }") }
      #expect(answer.data?["hello"] == "no trace")
    }
    let sampled = try #require(TraceContext(Self.caller))
    try await TraceContext.$current.withValue(sampled) { _ = try await client.query("query Last { hello }") }
    // Had the others been recorded, they would be here first.
    let spans = await collector.next(2)
    #expect(Set(spans.keys) == ["query Last", "Query.hello"])
    client.shutDown()
    await server.stop()
    await collector.server.stop()
  }

  @Test func `what waits is sent when the server stops, and a collector that fails stops nothing`() async throws {
    let collector = try Collector { $0 == 1 ? 503 : 200 }
    // Nothing is sent before the end by itself.
    let server = try Self.server(collector, delay: .seconds(3_600))
    let client = try GraphQLClient(url: try Self.url(server, "http"))
    #expect(try await client.query("query First { hello }").data?["hello"] != "no trace")
    client.shutDown()
    await server.stop()
    #expect(await collector.firstRequest() != nil)
    let other = try Self.server(collector, delay: .seconds(3_600))
    let second = try GraphQLClient(url: try Self.url(other, "http"))
    _ = try await second.query("query Second { hello }")
    second.shutDown()
    await other.stop()
    let spans = await collector.next(2)
    #expect(Set(spans.keys) == ["query Second", "Query.hello"])
    await collector.server.stop()
  }

  @Test func `without a collector nothing has a trace, and an address that is none refuses the start`() async throws {
    let server = try Self.server(nil)
    let client = try GraphQLClient(url: try Self.url(server, "http"))
    let context = try #require(TraceContext(Self.caller))
    let answer = try await TraceContext.$current.withValue(context) { try await client.query("{ hello }") }
    #expect(answer.data?["hello"] == "no trace")
    client.shutDown()
    await server.stop()
    for tracing in [TracingConfiguration(endpoint: "collector:4318"), TracingConfiguration(endpoint: "")] {
      var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
      configuration.access = .development
      configuration.tracing = tracing
      #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    }
  }
}
