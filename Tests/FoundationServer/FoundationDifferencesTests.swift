import Foundation
import Martlet
import MartletFoundationNetwork
import MartletRuntime
import MartletTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking

  /// What Foundation on Linux does otherwise than on Apple platforms, as the adapters expect it. A row that turns red
  /// has been mended there: the adapter, and docs/guides/apple.md, can be simpler.
  @Suite(.timeLimit(.minutes(2))) struct FoundationDifferencesTests {
    /// Gathers what one exchange reports, until its end.
    private final class Gathering: HTTPExchangeHandler {
      private(set) var head: HTTPExchangeHead?
      private(set) var bytes = 0
      private let done: (Gathering, HTTPExchangeError?) -> Void

      init(_ done: @escaping (Gathering, HTTPExchangeError?) -> Void) { self.done = done }
      func received(head: HTTPExchangeHead) { self.head = head }
      func received(body: borrowing RawSpan) { bytes += body.byteCount }
      func ended(_ error: HTTPExchangeError?) { done(self, error) }
    }

    private struct Outcome: Sendable {
      var status: Int?
      var location: String?
      var bytes: Int
      var error: HTTPExchangeError?
    }

    /// One exchange by the system's client, with the adapter and nothing above it.
    private static func exchange(
      _ url: URL, _ sessions: URLSessionConfiguration = .martlet, _ delegation: SessionDelegation = SessionDelegation()
    ) async -> Outcome {
      let loop = DispatchLoop(name: "differences")
      let http = SystemExchanges(SessionTasks(on: loop, configuration: sessions, delegation: delegation))
      return await withCheckedContinuation { continuation in
        loop.execute {
          var request = HTTPExchangeRequest("POST", url: url.absoluteString)
          request.headers = [("Content-Type", "application/json")]
          request.body = Array(#"{"query":"{ __typename }"}"#.utf8)
          request.totalTime = .seconds(10)
          // The exchange is held by its task while it runs; the session by this closure until the end.
          _ = http.start(
            request, on: loop,
            handler: Gathering { gathered, error in
              continuation.resume(
                returning: Outcome(
                  status: gathered.head?.status, location: gathered.head?["Location"], bytes: gathered.bytes,
                  error: error))
              withExtendedLifetime(http) {}
            })
        }
      }
    }

    @Test func `close codes of applications have no case`() {
      #expect(URLSessionWebSocketTask.CloseCode(rawValue: 4400) == nil)
      #expect(URLSessionWebSocketTask.CloseCode(rawValue: 1000) == .normalClosure)
    }

    @Test func `a WebSocket fails at once, because the library was built without them`() async throws {
      try await Servers.withNotes { url in
        let socket = try #require(URL(string: url.absoluteString.replacingOccurrences(of: "http:", with: "ws:")))
        let client = try Servers.client(
          socket, FoundationEnvironment.shared.withSockets(.martlet, on: FoundationEnvironment.loop)
        ) { $0.reconnect = .never }
        let notes = client.subscribe("subscription { onCreateNote { text } }")
        let error = await #expect(throws: GraphQLClientError.self) { try await notes.ready() }
        #expect(error?.code == .connectFailed)
        client.shutDown()
      }
    }

    @Test func `the proxies of a session's configuration are ignored`() async throws {
      try await Servers.withNotes { url in
        let sessions = URLSessionConfiguration.martlet
        sessions.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
        #expect(await Self.exchange(url, sessions).status == 200)
      }
    }

    @Test func `a redirect that is refused is a response like any other`() async throws {
      try await Servers.withPeer { url in
        let moved = await Self.exchange(url.path("moved"))
        #expect(moved.status == 307 && moved.location == "/graphql" && moved.error == nil)
        #expect(moved.bytes == "the body of a redirect".utf8.count)
      }
    }

    @Test func `a redirect is left to the client, which sends a query again and a mutation not`() async throws {
      try await Servers.withPeer { url in
        let client = try Servers.client(url.path("moved"), FoundationEnvironment.shared)
        #expect(try await client.query("{ __typename }").data?["__typename"] == "Query")
        let error = await #expect(throws: GraphQLClientError.self) {
          try await client.mutate("mutation { createNote(input: {}) { id } }")
        }
        #expect(error?.status == 307)
        client.shutDown()
      }
    }

    @Test func `the time for a whole resource is ignored, that for silence is kept`() async throws {
      try await Servers.withPeer { url in
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForResource = 0.1
        configuration.timeoutIntervalForRequest = 1
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: url.path("silent"))
        request.httpMethod = "POST"
        let begin = ContinuousClock.now
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .timedOut)
        // Not before the time for silence; a slow machine makes it later only.
        #expect(ContinuousClock.now - begin >= .milliseconds(900), "elsewhere a tenth of a second")
      }
    }

    @Test func `a server's certificate is never shown to a delegate, so that a private authority cannot be trusted`()
      async throws
    {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (certificate, key) = (folder.appendingPathComponent("c.pem"), folder.appendingPathComponent("k.pem"))
      try SelfSigned.certificate.write(to: certificate, atomically: true, encoding: .utf8)
      try SelfSigned.key.write(to: key, atomically: true, encoding: .utf8)
      let server = try await Servers.notes(["--tls-certificate", certificate.path, "--tls-key", key.path])
      defer { server.program.stop() }
      #expect(server.url.scheme == "https")
      let observer = Observer()
      let outcome = await Self.exchange(server.url, .martlet, SessionDelegation(observer: observer))
      // The error says so in its text alone; elsewhere it has a code of its own, and is `tls`.
      #expect(outcome.error?.code == .other, "\(String(describing: outcome.error))")
      #expect(outcome.error?.message.contains("certificate") == true)
      #expect(observer.challenges.withLock { $0 }.isEmpty)
    }

    @Test func `what a server asks for goes to the delegate of the application's session`() async throws {
      try await Servers.withPeer { url in
        let observer = Observer()
        let open = await Self.exchange(url.path("locked"), .martlet, SessionDelegation(observer: observer))
        #expect(open.status == 200 && open.bytes > 0, "\(open)")
        #expect(observer.challenges.withLock { $0 } == [NSURLAuthenticationMethodHTTPBasic])
      }
    }

    /// The delegate of an application's own session.
    private final class Observer: NSObject, URLSessionTaskDelegate, Sendable {
      let challenges = Lock<[String]>([])

      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        challenges.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
        completionHandler(.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
      }
    }
  }
#endif
