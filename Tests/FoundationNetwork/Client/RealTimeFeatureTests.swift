import Foundation
import Martlet
import MartletGraphQLClient
import MartletJSON
import MartletRuntime
import MartletTesting
import Testing

/// Batches, persisted operations, results in parts and shared streams, through a complete HTTP client on the loop of
/// Foundation's network and in real time.
@Suite(.timeLimit(.minutes(1))) struct RealTimeFeatureTests {
  private let time = RealTime()
  private static let fine = ScriptedHTTP.Reply.answer(200, #"{"data":{"n":1}}"#)

  private static func body(_ request: HTTPExchangeRequest) -> JSONValue {
    (try? JSONValue(parsing: request.body ?? [])) ?? .null
  }

  private func bodies(_ http: ScriptedHTTP) async throws -> [JSONValue] {
    try await time.run { http.requests.map(Self.body) }
  }

  @Test func `queries that share requests have each its own answer`() async throws {
    let http = ScriptedHTTP { _, request in
      func answer(_ query: JSONValue) -> String {
        #"{"data":{"said":\#((query["query"]?.string ?? "").debugDescription)}}"#
      }
      let body = Self.body(request)
      guard let list = body.array else { return .answer(200, answer(body)) }
      return .answer(200, "[\(list.map(answer).joined(separator: ","))]")
    }
    let client = try time.client(over: http) { $0.batching = BatchPolicy(operations: 3) }
    let said = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
      for number in 0..<7 {
        group.addTask { (number, try await client.query("{ n\(number) }").data?["said"]?.string) }
      }
      return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
    }
    #expect(said == Dictionary(uniqueKeysWithValues: (0..<7).map { ($0, "{ n\($0) }") }))
    // How many come together is the machine's choice, and never more than the limit.
    let counts = try await bodies(http).map { $0.array?.count ?? 1 }
    #expect(counts.reduce(0, +) == 7 && counts.allSatisfy { $0 <= 3 }, "\(counts)")
    client.shutDown()
  }

  @Test func `the hash of an operation goes first, and its document once when it is asked for`() async throws {
    let known = Lock<Set<String>>([])
    let http = ScriptedHTTP { _, request in
      let body = Self.body(request)
      guard let hash = body["extensions"]?["persistedQuery"]?["sha256Hash"]?.string else { return .fails(.response) }
      let isKnown = known.withLock { known in
        if body["query"] != nil { known.insert(hash) }
        return known.contains(hash)
      }
      return isKnown
        ? Self.fine
        : .answer(400, #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)
    }
    let client = try time.client(over: http) { $0.persistedOperations = PersistedOperationPolicy() }
    for _ in 0..<3 { #expect(try await client.query("{ n }").data?["n"] == 1) }
    #expect(try await bodies(http).map { $0["query"]?.string ?? "-" } == ["-", "{ n }", "-", "-"])
    client.shutDown()
  }

  @Test(arguments: [1, 7, 1_000]) func `a result in parts is put together, however its bytes are cut`(size: Int)
    async throws
  {
    let parts = [
      #"{"data":{"hero":{"__typename":"Hero","id":"1"}},"pending":[{"id":"0","path":["hero"]}],"hasNext":true}"#,
      #"{"incremental":[{"id":"0","data":{"name":"Luke"}}],"completed":[{"id":"0"}],"hasNext":false}"#,
    ]
    let whole =
      "\r\n---" + parts.map { "\r\nContent-Type: application/json\r\n\r\n\($0)\r\n---" }.joined() + "--\r\n"
    let http = ScriptedHTTP { _, _ in
      let bytes = Array(whole.utf8)
      let pieces = stride(from: 0, to: bytes.count, by: size).map { start in
        String(decoding: bytes[start..<min(start + size, bytes.count)], as: UTF8.self)
      }
      return .stream(type: "multipart/mixed; boundary=\"-\"", pieces)
    }
    let client = try time.client(over: http)
    let answer = try await client.query("query Hero { hero { id ... @defer { name } } }")
    #expect(answer.data?["hero"]?["id"] == "1" && answer.data?["hero"]?["name"] == "Luke")
    client.shutDown()
  }

  @Test(arguments: [SubscriptionMediaType.eventStream, .multipart])
  func `a stream that is cut is asked for again from its cursor, and nothing is missing or repeated`(
    media: SubscriptionMediaType
  ) async throws {
    func piece(_ payload: String) -> String {
      media == .eventStream
        ? "event: next\ndata: \(payload)\n\n"
        : "\r\nContent-Type: application/json\r\n\r\n{\"payload\":\(payload)}\r\n--graphql"
    }
    func ready(_ cursor: String) -> String {
      piece(#"{"extensions":{"martlet":{"ready":{"cursor":"\#(cursor)"}}}}"#)
    }
    func tick(_ number: Int) -> String {
      piece(#"{"data":{"tick":\#(number)},"extensions":{"martlet":{"cursor":"a-\#(number)"}}}"#)
    }
    let isEvents = media == .eventStream
    let type = isEvents ? "text/event-stream" : "multipart/mixed;boundary=graphql"
    let begin = isEvents ? ":\n\n" : "--graphql"
    let end = isEvents ? "event: complete\ndata:\n\n" : "--\r\n"
    let first = [begin, ready("a-0"), tick(1), tick(2)]
    // The second begins with one that was seen already.
    let second = [begin, ready("a-2"), tick(2), tick(3), end]
    let http = ScriptedHTTP { number, _ in
      number == 1 ? .stream(type: type, first, isCut: true) : .stream(type: type, second)
    }
    let client = try time.client(over: http) {
      $0.subscriptionMediaType = media
      $0.resumesHTTPSubscriptions = true
    }
    var seen: [String] = []
    for try await event in client.subscribe("subscription { tick }") {
      seen.append(event.gap == nil ? "\(event.data?["tick"] ?? .null)" : "gap")
    }
    #expect(seen == ["1", "2", "3"])
    let resumed = try await bodies(http).map { $0["extensions"]?["martlet"]?["resume"]?.string ?? "-" }
    #expect(resumed == ["-", "a-2"])
    client.shutDown()
  }

  @Test func `subscriptions share one event stream, each with its own events`() async throws {
    let http = ScriptedHTTP { _, request in
      switch request.method {
      case "PUT": return .answer(201, "token", type: "text/plain")
      case "GET": return .stream(type: "text/event-stream", [":\n\n"])
      case "POST":
        let id = Self.body(request)["extensions"]?["operationId"]?.string ?? ""
        let number = Self.body(request)["variables"]?["n"]?.int ?? -1
        return .accepted(sending: [
          "event: next\ndata: {\"id\":\"\(id)\",\"payload\":{\"data\":{\"tick\":\(number)}}}\n\n",
          "event: complete\ndata: {\"id\":\"\(id)\"}\n\n",
        ])
      default: return .answer(200, "")
      }
    }
    let client = try time.client(over: http) { $0.subscriptionMediaType = .sharedEventStream }
    let seen = try await withThrowingTaskGroup(of: (Int, [JSONValue?]).self) { group in
      for number in 0..<20 {
        group.addTask {
          var seen: [JSONValue?] = []
          let stream = client.subscribe(
            "subscription Tick($n: Int) { tick(n: $n) }", variables: ["n": .int(Int64(number))])
          for try await event in stream where event.gap == nil { seen.append(event.data?["tick"]) }
          return (number, seen)
        }
      }
      return try await group.reduce(into: [Int: [JSONValue?]]()) { $0[$1.0] = $1.1 }
    }
    for number in 0..<20 { #expect(seen[number] == [.int(Int64(number))], "\(number)") }
    client.shutDown()
  }

  @Test func `interceptors stand around every request, in their order`() async throws {
    let http = ScriptedHTTP { _, request in
      request.headers.contains { $0.name == "X-Outer" && $0.value == "1" } ? Self.fine : .answer(400, "{}")
    }
    struct Naming: Interceptor {
      let name: String
      let log: Lock<[String]>
      func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
        log.withLock { $0.append("\(name) asks") }
        var request = request
        if name == "outer" { request.headers.append((name: "X-Outer", value: "1")) }
        let answer = try await next(request)
        log.withLock { $0.append("\(name) has the answer") }
        return answer
      }
    }
    let log = Lock<[String]>([])
    let chain = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: [
        Naming(name: "outer", log: log), Naming(name: "inner", log: log),
      ]), endpointURL: try #require(URL(string: "http://example.test/graphql")), environment: time.environment(http))
    let client = GraphQLClient(networkTransport: chain, store: GraphQLStore())
    #expect(try await client.query("{ n }").data?["n"] == 1)
    #expect(log.withLock { $0 } == ["outer asks", "inner asks", "inner has the answer", "outer has the answer"])
    client.shutDown()
  }
}
