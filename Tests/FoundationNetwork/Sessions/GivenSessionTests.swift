import Foundation
import Martlet
import MartletGraphQLClient
import MartletRuntime
import Testing

@testable import MartletFoundationNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An application's own session: its configuration makes the sessions that are used, its delegate gets their challenges
/// and metrics and no data. The responses are scripted by a protocol of the configuration's, so that no network is
/// used.
@Suite(.timeLimit(.minutes(1))) struct GivenSessionTests {
  /// The delegate of an application's session.
  private final class Application: NSObject, URLSessionDataDelegate, Sendable {
    let challenged = Lock<[(session: ObjectIdentifier, method: String)]>([])
    let measured = Lock<[ObjectIdentifier]>([])
    let pieces = Lock(0)

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let method = challenge.protectionSpace.authenticationMethod
      challenged.withLock { $0.append((ObjectIdentifier(session), method)) }
      completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      measured.withLock { $0.append(ObjectIdentifier(metrics)) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      pieces.withLock { $0 += 1 }
    }
  }

  /// A delegate without any of the methods that are forwarded.
  private final class Indifferent: NSObject, URLSessionDelegate, Sendable {}

  /// A session as an application makes it, and its delegate.
  private static func given(
    _ delegate: any URLSessionDelegate, seconds: TimeInterval = 60
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [ScriptedResponses.self]
    configuration.timeoutIntervalForRequest = seconds
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  private static let usesFoundation = ProcessInfo.processInfo.environment["MARTLET_NETWORK"] == "foundation"

  /// A transport made of a session. Where the package is built with Linux's network, that initialiser is another one;
  /// there the transport is put together as Foundation's does it.
  private static func transport(_ session: URLSession, _ host: String) throws -> WebSocketTransport {
    let url = try #require(URL(string: "ws://\(host)/graphql"))
    var configuration = WebSocketTransport.configuration
    configuration.requestTransport = .http
    configuration.reconnect = .never
    if usesFoundation {
      return try WebSocketTransport(
        urlSession: session, store: GraphQLStore(), endpointURL: url, configuration: configuration)
    }
    return try WebSocketTransport(url: url, configuration: configuration, environment: Self.environment(session))
  }

  private static func environment(_ session: URLSession) -> ClientEnvironment {
    FoundationEnvironment.make(
      sessions: session.configuration, delegation: SessionDelegation(observer: session.delegate))
  }

  @Test(arguments: [60, 0, -1, 1e300, TimeInterval.infinity])
  func `a transport's requests go by a session of its own with the given configuration`(seconds: TimeInterval)
    async throws
  {
    let application = Application()
    let session = Self.given(application, seconds: seconds)
    defer { session.invalidateAndCancel() }
    let client = GraphQLClient(networkTransport: try Self.transport(session, "answers.test"), store: GraphQLStore())
    #expect(try await client.query("{ n }").data?["n"] == 7)
    #expect(application.pieces.withLock { $0 } == 0, "the application's delegate got the data")
    #expect(session.configuration.timeoutIntervalForRequest == seconds)
    client.shutDown()
  }

  @Test func `files go by it too`() async throws {
    let session = Self.given(Application())
    defer { session.invalidateAndCancel() }
    let transport = try Self.transport(session, "answers.test")
    let file = GraphQLFile(
      fieldName: "file", originalName: "dog.txt", mimeType: "text/plain", content: Array("woof".utf8))
    let request = OperationRequest(.mutation, document: "mutation ($file: Upload!) { keep(file: $file) }")
    #expect(try await transport.upload(request, files: [file]).value["data"]?["n"] == 7)
    transport.shutDown()
  }

  @Test(arguments: [ScriptedResponses.certificate, NSURLAuthenticationMethodHTTPBasic])
  func `a challenge goes to the given session's delegate, with the new session, and its answer counts`(method: String)
    async throws
  {
    let application = Application()
    let session = Self.given(application)
    defer { session.invalidateAndCancel() }
    let host = method == NSURLAuthenticationMethodHTTPBasic ? "password.test" : "certificate.test"
    let client = GraphQLClient(networkTransport: try Self.transport(session, host), store: GraphQLStore())
    await #expect(throws: GraphQLClientError.self) { try await client.query("{ n }") }
    let challenged = application.challenged.withLock { $0 }
    #expect(challenged.map(\.method) == [method])
    #expect(challenged.allSatisfy { $0.session != ObjectIdentifier(session) })
    client.shutDown()
  }

  @Test func `a delegate without these methods leaves challenges to the system`() async throws {
    let session = Self.given(Indifferent())
    defer { session.invalidateAndCancel() }
    let client = GraphQLClient(networkTransport: try Self.transport(session, "password.test"), store: GraphQLStore())
    await #expect(throws: GraphQLClientError.self) { try await client.query("{ n }") }
    client.shutDown()
  }

  @Test func `streams have a session with the given configuration and delegate`() async throws {
    let application = Application()
    let session = Self.given(application)
    defer { session.invalidateAndCancel() }
    func client(_ host: String) throws -> GraphQLClient {
      var configuration = ConnectionConfiguration()
      configuration.subscriptionMediaType = .eventStream
      configuration.reconnect = .never
      let url = try #require(URL(string: "http://\(host)/graphql"))
      return try GraphQLClient(url: url, configuration: configuration, environment: Self.environment(session))
    }
    let streaming = try client("streams.test")
    var seen: [JSONValue?] = []
    for try await event in streaming.subscribe("subscription { n }") { seen.append(event.data?["n"]) }
    #expect(seen == [7, 8] && application.pieces.withLock { $0 } == 0)
    let asked = try client("certificate.test")
    let refused = asked.subscribe("subscription { n }")
    await #expect(throws: GraphQLClientError.self) { for try await _ in refused {} }
    #expect(application.challenged.withLock { $0 }.map(\.method) == [ScriptedResponses.certificate])
    for client in [streaming, asked] { client.shutDown() }
  }

  /// Foundation on Linux collects none, so that the call is made here; the code between the system and the application
  /// is that of Apple platforms.
  @Test func `metrics go to the given session's delegate, and to none without harm`() throws {
    let application = Application()
    for observer in [application, Indifferent(), nil] as [(any URLSessionDelegate)?] {
      let relay = SessionRelay(DispatchLoop(name: "test"), SessionDelegation(observer: observer))
      let session = SessionRelay.session(.ephemeral, connections: nil, relay)
      defer { session.invalidateAndCancel() }
      let task = session.dataTask(with: URLRequest(url: try #require(URL(string: "http://server.test/"))))
      let metrics = URLSessionTaskMetrics()
      relay.urlSession(session, task: task, didFinishCollecting: metrics)
      let measured = application.measured.withLock { $0 }
      #expect(measured.count == 1)
      if observer === application { #expect(measured == [ObjectIdentifier(metrics)]) }
    }
  }
}

/// The responses of hosts that do not exist: what each does stands in its name.
private final class ScriptedResponses: URLProtocol {
  /// What a challenge about a server's certificate is called. Foundation on Linux has the constant without its value.
  static let certificate = "NSURLAuthenticationMethodServerTrust"

  override class func canInit(with request: URLRequest) -> Bool { request.url?.host?.hasSuffix(".test") == true }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  private final class Sender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }

  override func startLoading() {
    guard let client, let url = request.url, let host = url.host else { return }
    if host == "certificate.test" || host == "password.test" {
      let method = host == "password.test" ? NSURLAuthenticationMethodHTTPBasic : Self.certificate
      let space = URLProtectionSpace(
        host: host, port: 443, protocol: "https", realm: nil, authenticationMethod: method)
      return client.urlProtocol(
        self,
        didReceive: URLAuthenticationChallenge(
          protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
          sender: Sender()))
    }
    let isStream = host == "streams.test"
    guard
      let head = HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: "HTTP/1.1",
        headerFields: ["Content-Type": isStream ? "text/event-stream" : "application/graphql-response+json"])
    else { return }
    client.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    let pieces =
      isStream
      ? [
        ":\n\n", "event: next\ndata: {\"data\":{\"n\":7}}\n\n", "event: next\ndata: {\"data\":{\"n\":8}}\n\n",
        "event: complete\ndata:\n\n",
      ] : [#"{"data":{"n":7}}"#]
    for piece in pieces { client.urlProtocol(self, didLoad: Data(piece.utf8)) }
    client.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}
