package import MartletHTTPWire
package import MartletRuntime

/// An open WebSocket as the connection sees it: text messages and an end. Confined to its loop.
package protocol MessageSocket: AnyObject {
  func send(text: [UInt8])
  func close(_ code: WebSocketCloseCode, reason: String)
  func abort()
  /// Stops and restarts reading, for back-pressure.
  var isReading: Bool { get set }
}

/// The events of a socket for its connection, on the loop.
package protocol MessageSocketHandler: AnyObject {
  func received(text: [UInt8])
  func receivedBinary()
  /// Exactly once, last.
  func closed(code: WebSocketCloseCode, reason: String)
}

/// Where and how to open a WebSocket.
package struct MessageSocketRequest: Sendable {
  package var endpoint: GraphQLEndpoint
  package var subprotocols: [String]
  package var headers: [(name: String, value: String)]
  package var openTimeout: Duration
  package var messageBytes: Int
  /// Whether to offer compression.
  package var compresses = false

  package init(
    endpoint: GraphQLEndpoint, subprotocols: [String], headers: [(name: String, value: String)], openTimeout: Duration,
    messageBytes: Int, compresses: Bool = false
  ) {
    self.endpoint = endpoint
    self.subprotocols = subprotocols
    self.headers = headers
    self.openTimeout = openTimeout
    self.messageBytes = messageBytes
    self.compresses = compresses
  }
}

/// Why a WebSocket did not open.
package struct MessageSocketFailure: Error, Sendable, CustomStringConvertible {
  package var message: String
  /// The HTTP status when the server answered with one.
  package var status: Int?
  /// The field `Retry-After` beside it.
  package var retryAfter: String?

  package init(_ message: String, status: Int? = nil, retryAfter: String? = nil) {
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }

  package var description: String { status.map { "\(message) (HTTP \($0))" } ?? message }
}

/// Opens WebSockets: sockets in production, an imaginary wire in tests.
package protocol MessageSocketConnector: Sendable {
  typealias Opened = (socket: any MessageSocket, subprotocol: String?)
  /// `completion` runs on `loop` exactly once, before any call of the handler; not at all when cancelled.
  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt
}
