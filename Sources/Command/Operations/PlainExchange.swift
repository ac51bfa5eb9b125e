import MartletHTTPClient
import MartletLoop
import MartletRuntime

/// One request by HTTP on a loop of its own, with the answer read whole.
struct PlainExchange: Sendable {
  /// What came: the status and what of the body arrived, zero without a head, and what went wrong.
  struct Outcome: Sendable {
    var status = 0
    var body: [UInt8] = []
    var error: HTTPExchangeError?
  }

  /// What the connection trusts and shows.
  var trust: ServerTrust

  func send(_ request: HTTPExchangeRequest) async -> Outcome {
    let loops: LoopGroup
    do {
      loops = try LoopGroup.start(count: 1)
    } catch {
      return Outcome(error: HTTPExchangeError(.other, "\(error)"))
    }
    defer { loops.stop() }
    var options = CurlClient.Options()
    options.security = trust.security
    let client = CurlClient(options: options)
    let loop = loops.loops[0]
    return await withCheckedContinuation { continuation in
      loop.execute {
        let handler = Handler { continuation.resume(returning: $0) }
        handler.exchange = client.start(request, on: loop, handler: handler)
      }
    }
  }

  /// Confined to its loop.
  private final class Handler: HTTPExchangeHandler {
    var exchange: HTTPExchange?
    private let completion: (Outcome) -> Void
    private var outcome = Outcome()

    init(_ completion: @escaping (Outcome) -> Void) {
      self.completion = completion
    }

    func received(head: HTTPExchangeHead) { outcome.status = head.status }

    func received(body piece: borrowing RawSpan) {
      unsafe piece.withUnsafeBytes { unsafe outcome.body.append(contentsOf: $0) }
    }

    func ended(_ error: HTTPExchangeError?) {
      exchange = nil
      outcome.error = error
      completion(outcome)
    }
  }
}
