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
      private(set) var sent = 0
      private let done: (Gathering, HTTPExchangeError?) -> Void

      init(_ done: @escaping (Gathering, HTTPExchangeError?) -> Void) { self.done = done }
      func sentBody() { sent += 1 }
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

    /// One exchange whose response takes longer than a connection may; how often a part of the body had left.
    private static func slowExchange(_ url: URL, _ configure: (inout HTTPExchangeRequest) -> Void) async -> (
      outcome: Outcome, sent: Int
    ) {
      var request = HTTPExchangeRequest("POST", url: url.absoluteString)
      request.connectTime = .milliseconds(100)
      configure(&request)
      let (loop, sent) = (DispatchLoop(name: "slow"), request)
      let http = SystemExchanges(SessionTasks(on: loop, configuration: .martlet))
      return await withCheckedContinuation { continuation in
        loop.execute {
          _ = http.start(
            sent, on: loop,
            handler: Gathering { gathered, error in
              continuation.resume(
                returning: (
                  Outcome(status: gathered.head?.status, bytes: gathered.bytes, error: error), gathered.sent
                ))
              withExtendedLifetime(http) {}
            })
        }
      }
    }

    @Test func `a response that takes longer than a connection may is waited for once a part of the body has left`()
      async throws
    {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
      try Data(count: 50_000).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      try await Servers.withPeer { url in
        let whole = await Self.slowExchange(url.path("late")) { $0.body = Array("{}".utf8) }
        #expect(whole.outcome.status == 200 && whole.sent > 0, "\(whole)")
        let upload = await Self.slowExchange(url.path("late")) { $0.bodyFile = file.path }
        #expect(upload.outcome.status == 200 && upload.sent > 0, "\(upload)")
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

    /// Known there (swift-corelibs-foundation 5285). No code of a process's own can prevent it.
    @Test func `a connection that ends inside the head of a response stops the process`() async {
      await #expect(processExitsWith: .failure) {
        let half = try HalfAnswer()
        let url = try #require(URL(string: "http://127.0.0.1:\(half.port)/"))
        _ = await Self.exchange(url)
      }
    }

    /// So that the adapters' sessions have a delegate, and tasks have none.
    @Test func `a task's own delegate gets no data`() async throws {
      try await Servers.withPeer { url in
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let (ofTask, ofSession) = (Counting(ended), Counting(ended))
        let session = URLSession(configuration: .martlet, delegate: ofSession, delegateQueue: nil)
        var request = URLRequest(url: url.path("flood"))
        request.httpMethod = "POST"
        let task = session.dataTask(with: request)
        task.delegate = ofTask
        task.resume()
        for await _ in ends { break }
        #expect(ofTask.pieces.withLock { $0 } == 0)
        session.invalidateAndCancel()
      }
    }

    /// Counts the pieces of bodies, and reports the end of a task.
    private final class Counting: NSObject, URLSessionDataDelegate, Sendable {
      let pieces = Lock(0)
      private let ended: AsyncStream<Void>.Continuation

      init(_ ended: AsyncStream<Void>.Continuation) { self.ended = ended }

      func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        pieces.withLock { $0 += 1 }
      }

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.yield()
      }
    }

    @Test func `what a server asks for goes to the delegate of the application's session`() async throws {
      try await Servers.withPeer { url in
        let observer = Observer()
        let open = await Self.exchange(url.path("locked"), .martlet, SessionDelegation(observer: observer))
        #expect(open.status == 200 && open.bytes > 0, "\(open)")
        #expect(observer.challenges.withLock { $0 } == [NSURLAuthenticationMethodHTTPBasic])
      }
    }

    @Test func `a password that is not given ends the exchange with the server's answer`() async throws {
      try await Servers.withPeer { url in
        let outcome = await Self.exchange(url.path("locked"))
        #expect(outcome.status == 401 && outcome.error == nil, "\(outcome)")
        let client = try Servers.client(url.path("locked"), FoundationEnvironment.shared)
        let error = await #expect(throws: GraphQLClientError.self) { try await client.query("{ __typename }") }
        #expect(error?.status == 401, "\(String(describing: error))")
        client.shutDown()
      }
    }

    @Test(arguments: [Observer.Answer.leaves, .rejects])
    func `a delegate that gives no password leaves the server's answer`(answer: Observer.Answer) async throws {
      try await Servers.withPeer { url in
        let observer = Observer(answer)
        let outcome = await Self.exchange(url.path("locked"), .martlet, SessionDelegation(observer: observer))
        #expect(outcome.status == 401 && outcome.error == nil, "\(outcome)")
        #expect(observer.challenges.withLock { $0.count } == 1)
      }
    }

    /// A task that is suspended here delivers pieces of the body twice (seen at 4 MiB from a fast server), so that the
    /// adapter does not suspend it. It holds what comes, up to a bound, and loses nothing that it does not report.
    @Test func `a paused exchange delivers everything in order after it is resumed, or ends with an error`()
      async throws
    {
      try await Servers.withPeer { url in
        let outcome = await Self.pausedExchange(url.path("flood"))
        #expect(outcome.isInOrder && outcome.whilePaused == 0)
        if let error = outcome.error {
          #expect(error.code == .overflow, "\(error)")
        } else {
          #expect(outcome.bytes == 64 * 65_536)
        }
      }
    }

    private struct PausedOutcome: Sendable {
      var bytes = 0
      var whilePaused = 0
      var isInOrder = true
      var error: HTTPExchangeError?
    }

    /// Pauses at the first piece of the body and resumes after another exchange has ended.
    private final class Pausing: HTTPExchangeHandler {
      private var outcome = PausedOutcome()
      private var isPaused = false
      private var hasPaused = false
      /// Set after the start; no event comes before.
      var exchange: HTTPExchange?
      private let other: (@escaping () -> Void) -> Void
      private let done: (PausedOutcome) -> Void

      init(other: @escaping (@escaping () -> Void) -> Void, done: @escaping (PausedOutcome) -> Void) {
        self.other = other
        self.done = done
      }

      func received(head: HTTPExchangeHead) {}

      func received(body: borrowing RawSpan) {
        for index in 0..<body.byteCount {
          let expected = UInt8(truncatingIfNeeded: (outcome.bytes + index) / 65_536)
          if unsafe body.unsafeLoad(fromByteOffset: index, as: UInt8.self) != expected { outcome.isInOrder = false }
        }
        outcome.bytes += body.byteCount
        if isPaused { outcome.whilePaused += body.byteCount }
        guard !hasPaused else { return }
        hasPaused = true
        pause(true)
        other { self.pause(false) }
      }

      private func pause(_ paused: Bool) {
        isPaused = paused
        exchange?.isPaused = paused
      }

      func ended(_ error: HTTPExchangeError?) {
        outcome.error = error
        exchange = nil
        done(outcome)
      }
    }

    private static func pausedExchange(_ url: URL) async -> PausedOutcome {
      let loop = DispatchLoop(name: "pausing")
      let http = SystemExchanges(SessionTasks(on: loop, configuration: .martlet, delegation: SessionDelegation()))
      return await withCheckedContinuation { continuation in
        loop.execute {
          let request = HTTPExchangeRequest("POST", url: url.absoluteString)
          let handler = Pausing(
            other: { ended in _ = http.start(request, on: loop, handler: Gathering { _, _ in ended() }) },
            done: { outcome in
              continuation.resume(returning: outcome)
              withExtendedLifetime(http) {}
            })
          handler.exchange = http.start(request, on: loop, handler: handler)
        }
      }
    }

    /// The delegate of an application's own session.
    final class Observer: NSObject, URLSessionTaskDelegate, Sendable {
      let challenges = Lock<[String]>([])
      private let answer: Answer

      enum Answer: Sendable { case password, leaves, rejects }

      init(_ answer: Answer = .password) { self.answer = answer }

      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        challenges.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
        switch answer {
        case .password:
          completionHandler(.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
        case .leaves: completionHandler(.performDefaultHandling, nil)
        case .rejects: completionHandler(.rejectProtectionSpace, nil)
        }
      }
    }
  }
#endif
