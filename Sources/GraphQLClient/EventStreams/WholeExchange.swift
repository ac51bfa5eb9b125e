internal import MartletHTTPWire
internal import MartletJSON
package import MartletRuntime

/// A request whose response is read to its end. Confined to its loop.
package final class WholeExchange: HTTPExchangeHandler {
  /// A whole response.
  package struct Answer {
    package var status: Int
    package var body: [UInt8]
    /// The header field `Retry-After`.
    var retryAfterField: String?

    /// The pause that the server asks for; `now` in milliseconds since 1970.
    func retryAfter(_ now: Int64) -> Duration? { retryAfterField.flatMap { RetryAfter.pause($0, now: now) } }

    /// What the server says against the request.
    var errors: [JSONValue] { (try? JSONValue(parsing: body))?["errors"]?.array ?? [] }

    package var message: String { errors.first?["message"]?.string ?? "HTTP status \(status)" }
  }

  private var status = 0
  private var retryAfterField: String?
  private var body: [UInt8] = []
  private var exchange: HTTPExchange?
  private var completion: ((Result<Answer, HTTPExchangeError>) -> Void)?

  /// Starts the exchange; `completion` runs once on the loop, never inside this call, not after `cancel`.
  package init(
    _ call: HTTPExchangeRequest, _ http: any HTTPExchanging, on loop: any Loop,
    _ completion: @escaping (Result<Answer, HTTPExchangeError>) -> Void
  ) {
    self.completion = completion
    exchange = http.start(call, on: loop, handler: self)
  }

  package func received(head: HTTPExchangeHead) {
    status = head.status
    retryAfterField = head["retry-after"]
  }

  package func received(body bytes: borrowing RawSpan) {
    body += unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  package func ended(_ error: HTTPExchangeError?) {
    let told = completion
    completion = nil
    exchange = nil
    if let error {
      told?(.failure(error))
      return
    }
    told?(.success(Answer(status: status, body: body, retryAfterField: retryAfterField)))
  }

  package func cancel() {
    completion = nil
    exchange?.cancel()
    exchange = nil
  }
}
