import Foundation
import Martlet
import MartletGraphQLClient
import MartletRuntime
import MartletTesting
import Testing

@testable import MartletFoundationNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `WebSocketTransport(urlSession:)` from the application's session to the frames, with scripted tasks in the place of
/// `URLSessionWebSocketTask`: Foundation's own cannot run here, because this distribution's was built without
/// WebSockets. In real time; nothing waits for a duration.
@Suite(.timeLimit(.minutes(1))) struct GivenSessionSocketTests {
  private let time = RealTime(FoundationEnvironment.loop)
  private let sockets = WaitingSockets()

  /// The delegate of the application's session.
  private final class Application: NSObject, URLSessionTaskDelegate, Sendable {
    let challenged = Lock<[String]>([])
    let measured = Lock(0)

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      challenged.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
      completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      measured.withLock { $0 += 1 }
    }
  }

  private static let address = "ws://server.test/graphql"

  private func transport(
    _ session: URLSession = URLSession(configuration: .ephemeral),
    _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> WebSocketTransport {
    var configuration = WebSocketTransport.configuration
    configuration.reconnect.firstDelay = .milliseconds(1)
    configuration.reconnect.longestDelay = .milliseconds(5)
    configure(&configuration)
    let url = try #require(URL(string: Self.address))
    return try WebSocketTransport(session, url, configuration) { session, delegation in
      sockets.made.withLock { $0.append((session, delegation)) }
      return sockets
    }
  }

  private func client(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> GraphQLClient {
    GraphQLClient(networkTransport: try transport(configure: configure), store: GraphQLStore())
  }

  private func transport(configure: (inout ConnectionConfiguration) -> Void) throws -> WebSocketTransport {
    try transport(URLSession(configuration: .ephemeral), configure)
  }

  // MARK: The session

  @Test func `the sessions made have the proxies, cookies and cache of the given one, which stays as it was`() throws {
    // Its cookies are its own already.
    let given = URLSessionConfiguration.ephemeral
    given.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "proxy.test", "HTTPPort": 3128]
    given.urlCache = URLCache(memoryCapacity: 1 << 16, diskCapacity: 0, diskPath: nil)
    given.httpShouldSetCookies = false
    given.httpMaximumConnectionsPerHost = 3
    given.timeoutIntervalForRequest = 17
    given.timeoutIntervalForResource = 18
    given.httpAdditionalHeaders = ["X-App": "1"]
    let application = Application()
    let session = URLSession(configuration: given, delegate: application, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let transport = try transport(session)
    let (configuration, delegation) = try #require(sockets.made.withLock { $0 }.first)
    #expect(delegation.observer === application)
    // As the sessions of requests, of streams and of sockets are made from it.
    let relay = SessionRelay(FoundationEnvironment.loop, delegation)
    let made = SessionRelay.session(configuration, connections: nil, relay)
    defer { made.invalidateAndCancel() }
    #expect(made !== session)
    for own in [configuration, made.configuration] {
      #expect(own.connectionProxyDictionary?["HTTPProxy"] as? String == "proxy.test")
      #expect(own.connectionProxyDictionary?["HTTPPort"] as? Int == 3128)
      #expect(own.httpCookieStorage === given.httpCookieStorage && own.urlCache === given.urlCache)
      #expect(!own.httpShouldSetCookies)
    }
    #expect(session.configuration.timeoutIntervalForRequest == 17)
    #expect(session.configuration.timeoutIntervalForResource == 18)
    #expect(session.configuration.httpMaximumConnectionsPerHost == 3)
    #expect(session.configuration.httpAdditionalHeaders?["X-App"] as? String == "1")
    transport.shutDown()
  }

  @Test
  func `the session's fields go with the handshake behind the client's own, and those that the client sets do not`()
    async throws
  {
    let given = URLSessionConfiguration.ephemeral
    given.httpAdditionalHeaders = ["X-App": "1", "x-both": "session", "Accept": "text/plain", "Host": "other.test"]
    let client = GraphQLClient(
      networkTransport: try transport(URLSession(configuration: given)) { $0.headers = [("X-Both", "client")] },
      store: GraphQLStore())
    let fields = try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let headers = await sockets.next().request.headers.map { "\($0.name): \($0.value)" }
      stream.cancel()
      return headers
    }
    #expect(fields == ["X-Both: client", "X-App: 1"])
    let configuration = try #require(sockets.made.withLock { $0 }.first?.0)
    #expect(configuration.httpAdditionalHeaders == nil, "the system would send them to every origin")
    client.shutDown()
  }

  @Test(arguments: [("X-App", "1\r\nX-More: 2"), ("X-App", "1\nX-More: 2"), ("X App", "1"), ("X-App", "\u{7F}")])
  func `a field of the session that would break a request is refused, without its value`(name: String, value: String)
    throws
  {
    let given = URLSessionConfiguration.ephemeral
    given.httpAdditionalHeaders = [name: value]
    let error = #expect(throws: GraphQLClientError.self) { try transport(URLSession(configuration: given)) }
    #expect(error?.code == .invalidRequest && error?.message.contains("X-More") == false)
  }

  @Test func `a background session is refused, because its tasks have no data, streams or WebSockets`() {
    #if canImport(FoundationNetworking)
      let background = URLSessionConfiguration.default
      background.identifier = "app.sync"
    #else
      let background = URLSessionConfiguration.background(withIdentifier: "app.sync")
    #endif
    let error = #expect(throws: GraphQLClientError.self) { try transport(URLSession(configuration: background)) }
    #expect(error?.code == .invalidRequest && error?.message.contains("app.sync") == true)
    #expect(sockets.made.withLock { $0.isEmpty })
    let url = URL(string: "ws://server.test/graphql")
    #expect(throws: GraphQLClientError.self) {
      try WebSocketTransport(
        urlSession: URLSession(configuration: background), store: GraphQLStore(), endpointURL: #require(url))
    }
  }

  // MARK: Orders of events

  private static func first(_ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) async -> String {
    do {
      for try await event in stream {
        return event.gap.map { "gap \($0.reason.rawValue)" } ?? "\(event.data?["tick"] ?? .null)"
      }
      return "ended"
    } catch let error as GraphQLClientError {
      return "\(error.code) \(error.closeCode ?? 0) \(error.status ?? 0)"
    } catch { return "\(error)" }
  }

  @Test func `a subscription runs over a task of the session's, and resumes over another after a cut`() async throws {
    let client = try client()
    let seen = try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      var seen: [String] = []
      let first = await sockets.next()
      first.events.opened(subprotocol: "graphql-transport-ws")
      #expect(await first.sent()["type"] == "connection_init")
      first.message(#"{"type":"connection_ack","payload":{"martlet":{"cursors":true}}}"#)
      let id = await first.sent()["id"]?.string ?? ""
      first.message(#"{"id":"\#(id)","type":"ready","cursor":"a-1"}"#)
      first.message(#"{"id":"\#(id)","type":"next","payload":{"data":{"tick":1}},"cursor":"a-2"}"#)
      seen.append(await Self.first(stream))
      // The end comes first, and what is said later is of no more account.
      first.events.completed(URLError(.networkConnectionLost), status: 101, retryAfter: nil)
      first.events.closed(code: 1000, reason: [])
      first.fail()
      let second = await sockets.next()
      second.events.opened(subprotocol: "graphql-transport-ws")
      _ = await second.sent()
      second.message(#"{"type":"connection_ack","payload":{"martlet":{"cursors":true}}}"#)
      let again = await second.sent()
      #expect("\(again)".contains("a-2"), "\(again)")
      second.message(#"{"id":"\#(id)","type":"ready","cursor":"a-2"}"#)
      second.message(#"{"id":"\#(id)","type":"next","payload":{"data":{"tick":2}},"cursor":"a-3"}"#)
      seen.append(await Self.first(stream))
      second.message(#"{"id":"\#(id)","type":"complete"}"#)
      seen.append(await Self.first(stream))
      return seen
    }
    #expect(seen == ["1", "2", "ended"])
    client.shutDown()
  }

  @Test(arguments: [4_400, 4_406, 4_429, 4_499], [false, true])
  func `the number of a server's close code reaches the application, whichever event of the end comes first`(
    code: Int, isUnreadableFirst: Bool
  ) async throws {
    let client = try client { $0.reconnect = .never }
    let outcome = try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let task = await sockets.next()
      task.events.opened(subprotocol: "graphql-transport-ws")
      _ = await task.sent()
      if isUnreadableFirst { task.fail() }
      task.events.closed(code: code, reason: Array("away".utf8))
      if !isUnreadableFirst { task.fail() }
      task.events.completed(nil, status: 101, retryAfter: nil)
      return await Self.first(stream)
    }
    #expect(outcome.contains(" \(code) "), "\(outcome)")
    client.shutDown()
  }

  @Test(arguments: [401, 403, 404, 426, 503])
  func `the status of a refused upgrade reaches the application`(status: Int) async throws {
    let client = try client { $0.reconnect = .never }
    let outcome = try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      // Credentials are asked for once more after a refusal.
      for _ in 0..<(status < 404 ? 2 : 1) {
        await sockets.next().events.completed(URLError(.badServerResponse), status: status, retryAfter: nil)
      }
      return await Self.first(stream)
    }
    #expect(outcome.hasSuffix(" 0 \(status)") && sockets.isAllTaken, "\(outcome)")
    client.shutDown()
  }

  @Test func `a consumer without room has no further message asked for`() async throws {
    let client = try client { $0.buffer = BufferPolicy(events: 2) }
    try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let task = await sockets.next()
      task.events.opened(subprotocol: "graphql-transport-ws")
      _ = await task.sent()
      task.message(#"{"type":"connection_ack"}"#)
      let id = await task.sent()["id"]?.string ?? ""
      var sent = 0
      while task.message(#"{"id":"\#(id)","type":"next","payload":{"data":{"tick":\#(sent)}}}"#) { sent += 1 }
      #expect(sent == 2)
      for number in 0..<2 { #expect(await Self.first(stream) == "\(number)") }
      await task.asked()
      #expect(task.message(#"{"id":"\#(id)","type":"next","payload":{"data":{"tick":2}}}"#))
      #expect(await Self.first(stream) == "2")
      stream.cancel()
    }
    client.shutDown()
  }

  @Test func `a client that is shut down while its task opens ends it, and what the task still reports is nothing`()
    async throws
  {
    let client = try client()
    try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let task = await sockets.next()
      client.shutDown()
      await task.cancelled()
      task.events.opened(subprotocol: "graphql-transport-ws")
      task.events.closed(code: 1000, reason: [])
      task.events.completed(URLError(.cancelled), status: nil, retryAfter: nil)
      #expect(await Self.first(stream) == "ended" && task.texts.isEmpty)
      #expect(sockets.count == 1)
    }
  }

  @Test func `a socket's compression is not offered, and its messages have the client's bound`() async throws {
    let client = try client { $0.messageBytes = 12_345 }
    try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let request = await sockets.next().request
      #expect(request.messageBytes == 12_345 && request.subprotocols == ["graphql-transport-ws"])
      #expect(!request.headers.contains { $0.name.lowercased() == "sec-websocket-extensions" })
      stream.cancel()
    }
    client.shutDown()
  }

  // MARK: The application's life

  @Test(arguments: ["UIApplication", "WKApplication"])
  func `the system's notifications pause a client that follows them, and resume it`(application: String) async throws {
    let client = try client()
    client.followsApplicationLife = true
    @Sendable func post(_ name: String) {
      NotificationCenter.default.post(name: Notification.Name(application + name), object: nil)
    }
    try await time.run { [sockets] in
      let stream = client.subscribe("subscription { tick }")
      let first = await sockets.next()
      first.events.opened(subprotocol: "graphql-transport-ws")
      post("DidEnterBackgroundNotification")
      await first.closed()
      #expect("\(stream.state)" == "paused")
      post("WillEnterForegroundNotification")
      let second = await sockets.next()
      second.events.opened(subprotocol: "graphql-transport-ws")
      client.followsApplicationLife = false
      post("DidEnterBackgroundNotification")
      #expect(await second.sent()["type"] == "connection_init")
      second.message(#"{"type":"connection_ack"}"#)
      #expect(await second.sent()["type"] == "subscribe" && !second.isClosed)
      stream.cancel()
    }
    client.shutDown()
  }
}
