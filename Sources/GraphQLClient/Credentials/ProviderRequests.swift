internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// The addresses of a provider, from its discovery document.
struct ProviderAddresses: Sendable, Hashable {
  var token: String
  var authorization: String?
  var device: String?
}

/// Requests to a provider. From any task.
struct ProviderRequests: Sendable {
  private let environment: ClientEnvironment
  /// Bytes of one answer.
  private static let answerBytes = 256 << 10
  private static let time = Duration.seconds(30)

  init(_ environment: ClientEnvironment) { self.environment = environment }

  /// Reads the discovery document of an issuer, which must be the issuer's own.
  func addresses(of issuer: String) async throws(OIDCError) -> ProviderAddresses {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let (status, body) = try await send(
      HTTPExchangeRequest("GET", url: try Self.checked(base + "/.well-known/openid-configuration")))
    guard status == 200, let members = (try? JSONValue(parsing: body))?.object,
      let named = members["issuer"]?.string, named.utf8.elementsEqual(issuer.utf8),
      let token = members["token_endpoint"]?.string
    else {
      throw OIDCError(
        status == 200 ? .mismatch : .unreachable, "\(issuer) has no discovery document of its own (status \(status)).")
    }
    return ProviderAddresses(
      token: try Self.checked(token),
      authorization: try members["authorization_endpoint"]?.string.map(Self.checked),
      device: try members["device_authorization_endpoint"]?.string.map(Self.checked))
  }

  func post(_ address: String, _ fields: [(String, String)]) async throws(OIDCError) -> (status: Int, body: [UInt8]) {
    var request = HTTPExchangeRequest("POST", url: address)
    request.headers = [
      (name: "Content-Type", value: "application/x-www-form-urlencoded"), (name: "Accept", value: "application/json"),
    ]
    request.body = Array(FormText.text(fields).utf8)
    return try await send(request)
  }

  /// Secrets go only over encrypted connections, except on this machine.
  private static func checked(_ address: String) throws(OIDCError) -> String {
    let lower = address.lowercased()
    if lower.hasPrefix("https://") { return address }
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      let start = "http://\(host)"
      guard lower.hasPrefix(start) else { continue }
      if let next = lower.utf8.dropFirst(start.utf8.count).first, next != UInt8(ascii: ":"), next != UInt8(ascii: "/") {
        continue
      }
      return address
    }
    throw OIDCError(.mismatch, "\(address) is not an https address.")
  }

  private func send(_ asked: HTTPExchangeRequest) async throws(OIDCError) -> (status: Int, body: [UInt8]) {
    guard let http = environment.http else {
      throw OIDCError(.unreachable, "This program has no network for requests.")
    }
    var request = asked
    request.totalTime = Self.time
    request.bodyBytes = Self.answerBytes
    let whole = request
    let environment = environment
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Answered, OIDCError>, Never>) in
      environment.loop.execute {
        let handler = AnswerHandler(done)
        handler.exchange = http.start(whole, on: environment.loop, handler: handler)
      }
    }
    let answered = try result.get()
    return (answered.status, answered.body)
  }

  /// The loop's time.
  func loopTime() async -> Instant {
    let loop = environment.loop
    return await withCheckedContinuation { done in loop.execute { done.resume(returning: loop.now) } }
  }

  /// Waits until then, or until the task is cancelled.
  func wait(until moment: Instant) async {
    let pause = LoopBound(Pause(), on: environment.loop)
    await withTaskCancellationHandler {
      await withCheckedContinuation { done in
        pause.loop.execute { pause.value.begin(done, until: moment, on: pause.loop) }
      }
    } onCancel: {
      pause.loop.execute { pause.value.end() }
    }
  }

  /// Confined to its loop.
  private final class Pause {
    private var isOver = false
    private var done: CheckedContinuation<Void, Never>?
    private var timer: LoopTimer?

    func begin(_ done: CheckedContinuation<Void, Never>, until moment: Instant, on loop: any Loop) {
      guard !isOver else { return done.resume() }
      self.done = done
      timer = loop.schedule(at: moment) { [weak self] in self?.end() }
    }

    func end() {
      isOver = true
      timer?.cancel()
      timer = nil
      let waiting = done
      done = nil
      waiting?.resume()
    }
  }

  private struct Answered: Sendable {
    var status: Int
    var body: [UInt8]
  }

  /// Collects one answer. Confined to its loop.
  private final class AnswerHandler: HTTPExchangeHandler {
    private var done: CheckedContinuation<Result<Answered, OIDCError>, Never>?
    private var status = 0
    private var body: [UInt8] = []
    /// Held until it has ended.
    var exchange: HTTPExchange?

    init(_ done: CheckedContinuation<Result<Answered, OIDCError>, Never>) { self.done = done }

    func received(head: HTTPExchangeHead) { status = head.status }

    func received(body piece: borrowing RawSpan) {
      // The memory is valid during the call.
      unsafe piece.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    }

    func ended(_ error: HTTPExchangeError?) {
      let finished = done
      done = nil
      exchange = nil
      if let error {
        finished?.resume(
          returning: .failure(OIDCError(.unreachable, "The provider cannot be reached: \(error.message)")))
      } else {
        finished?.resume(returning: .success(Answered(status: status, body: body)))
      }
    }
  }
}
