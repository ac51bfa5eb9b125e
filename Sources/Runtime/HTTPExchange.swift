/// One outgoing HTTP request.
package struct HTTPExchangeRequest: Sendable {
  package var method: String
  /// An `http:` or `https:` URL.
  package var url: String
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8]?
  /// A file that is sent as the body, by its path. It must not change meanwhile. Not every network sends files.
  package var bodyFile: String?
  /// Time for all of it, the last byte of the response included. Nil for streams that are to stay open.
  package var totalTime: Duration? = .seconds(60)
  /// Time for name, connection and TLS.
  package var connectTime = Duration.seconds(10)
  /// Seconds without a byte after which the exchange counts as dead.
  package var idleTime: Duration? = .seconds(60)
  /// Longest response body; longer ones fail. Nil for streams, which are bounded by their reader.
  package var bodyBytes: Int? = 16 << 20
  /// Connects to this numeric address in place of what the name says. Name and certificate stay the URL's, so that an
  /// address that was looked up and checked is the one that is used.
  package var pinnedAddress: String?

  package init(_ method: String = "GET", url: String) {
    self.method = method
    self.url = url
  }
}

/// The head of a response, informational ones left out.
package struct HTTPExchangeHead: Sendable {
  package var status: Int
  /// Names as they came; compare them without regard to case.
  package var headers: [(name: String, value: String)]
  /// 1 or 2.
  package var majorVersion: Int

  package init(status: Int, headers: [(name: String, value: String)], majorVersion: Int) {
    self.status = status
    self.headers = headers
    self.majorVersion = majorVersion
  }

  /// The first field of a name, whatever its case.
  package subscript(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased().utf8.elementsEqual(wanted.utf8) }?.value
  }
}

/// Why an exchange failed.
package struct HTTPExchangeError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    /// The request itself cannot be sent: a bad URL, or a header that would break the framing.
    case invalidRequest
    case resolution
    case connect
    case tls
    case timeout
    /// The response is longer than the request allows.
    case bodyTooLarge
    /// While the owner had paused the exchange, more came than the network holds.
    case overflow
    /// The response broke HTTP, or ended before its end.
    case response
    case other
  }

  package var code: Code
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// The events of an exchange for its owner, always on the loop.
package protocol HTTPExchangeHandler: AnyObject {
  /// A stretch of the request's body has left. Not every network reports it.
  func sentBody()
  /// Once, before any of the body.
  func received(head: HTTPExchangeHead)
  /// A piece of the body, as it arrives. The bytes are valid during the call only.
  func received(body: borrowing RawSpan)
  /// The exchange is over: nil when the response is complete. Called exactly once, last; not after `cancel`.
  func ended(_ error: HTTPExchangeError?)
}

extension HTTPExchangeHandler {
  package func sentBody() {}
}

/// Sends HTTP requests: libcurl or the system's client in production, an imaginary server in a simulation.
package protocol HTTPExchanging: Sendable {
  /// Starts an exchange; on the loop. The handler is not called before this returns.
  func start(_ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler) -> HTTPExchange
}

/// A running exchange. Confined to its loop.
package final class HTTPExchange {
  private var cancelling: (() -> Void)?
  private let pausing: (Bool) -> Void

  package init(cancelling: @escaping () -> Void, pausing: @escaping (Bool) -> Void) {
    self.cancelling = cancelling
    self.pausing = pausing
  }

  /// Ends the exchange; the handler is not called again.
  package func cancel() {
    cancelling?()
    cancelling = nil
  }

  /// Stops and restarts the body, for back-pressure. What already arrived may still be delivered.
  package var isPaused = false {
    didSet { if isPaused != oldValue { pausing(isPaused) } }
  }
}
