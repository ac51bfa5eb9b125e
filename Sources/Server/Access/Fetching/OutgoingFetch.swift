internal import MartletRuntime

/// What requests to other servers are made with: key sets of issuers, and the custom authorizer.
struct OutgoingSurroundings {
  let loop: any Loop
  let http: any HTTPExchanging
  let log: Log
}

/// One outgoing request whose answer is read whole. Confined to its loop; given up when it is let go.
final class OutgoingFetch {
  /// A whole answer.
  struct Answer {
    let head: HTTPExchangeHead
    let body: [UInt8]
  }

  private let handler: Handler
  private let exchange: HTTPExchange

  /// - Parameter completion: called once, after this has returned; not after `cancel`.
  init(
    _ request: HTTPExchangeRequest, _ surroundings: OutgoingSurroundings,
    _ completion: @escaping (Result<Answer, HTTPExchangeError>) -> Void
  ) {
    handler = Handler(completion)
    exchange = surroundings.http.start(request, on: surroundings.loop, handler: handler)
  }

  func cancel() {
    handler.completion = nil
    exchange.cancel()
  }

  deinit {
    if handler.completion != nil { exchange.cancel() }
  }

  private final class Handler: HTTPExchangeHandler {
    var completion: ((Result<Answer, HTTPExchangeError>) -> Void)?
    private var head: HTTPExchangeHead?
    private var body: [UInt8] = []

    init(_ completion: @escaping (Result<Answer, HTTPExchangeError>) -> Void) {
      self.completion = completion
    }

    func received(head: HTTPExchangeHead) { self.head = head }

    func received(body piece: borrowing RawSpan) {
      // The memory is valid during the call.
      unsafe piece.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    }

    func ended(_ error: HTTPExchangeError?) {
      let completion = completion
      self.completion = nil
      if let error { return completion?(.failure(error)) ?? () }
      guard let head else { return completion?(.failure(HTTPExchangeError(.response, "it sent no answer"))) ?? () }
      completion?(.success(Answer(head: head, body: body)))
    }
  }
}
