/// What a `WebSocketMachine` reports, in order.
package enum WebSocketEvent: Equatable, Sendable {
  /// A whole text message; its bytes are UTF-8.
  case text([UInt8])
  case binary([UInt8])
  /// A ping, already answered.
  case ping([UInt8])
  case pong([UInt8])
  /// No message follows. Sent exactly once.
  case closed(WebSocketClosure)
  /// Send what is pending, then close the transport.
  case closeTransport
  /// Drop the transport now.
  case abortTransport
}

/// How a WebSocket ended.
package struct WebSocketClosure: Equatable, Sendable {
  /// The peer's code; 1005 for a close without one, 1006 for none at all. On a failure seen here, the code we sent.
  package var code: WebSocketCloseCode
  /// The peer's reason, or ours on a failure seen here.
  package var reason: String
  /// The rule that was broken when this side ended the connection for it.
  package var failure: WebSocketFailure?

  package init(code: WebSocketCloseCode, reason: String = "", failure: WebSocketFailure? = nil) {
    self.code = code
    self.reason = reason
    self.failure = failure
  }
}
