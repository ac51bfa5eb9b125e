package import MartletGraphQLClient
package import MartletRuntime

/// What the adapter of WebSockets needs of the system's: `URLSessionWebSocketTask`, or a test's. Close codes are
/// numbers, because the system's enumeration lacks those of applications on some platforms.
package protocol SocketTask: AnyObject {
  func resume()
  /// Sends a text message; `completion` runs on the loop once it has left, with what went wrong.
  func send(text: String, _ completion: @escaping ((any Error)?) -> Void)
  /// Asks for the next message; `completion` runs on the loop, once. Nothing is read that was not asked for.
  func receive(_ completion: @escaping (Result<SocketTaskMessage, any Error>) -> Void)
  /// Begins the closing handshake.
  func close(code: Int, reason: [UInt8])
  /// Ends the connection at once.
  func cancel()
}

package enum SocketTaskMessage: Sendable {
  case text(String)
  case binary
}

/// What a task reports, on its loop, in this order: `opened`, `closed` if the server closes, `completed`.
package protocol SocketTaskEvents: AnyObject {
  func opened(subprotocol: String?)
  func closed(code: Int, reason: [UInt8])
  /// Last. `status` and `retryAfter` are of the response when the server answered the handshake with one.
  func completed(_ error: (any Error)?, status: Int?, retryAfter: String?)
}

/// Makes tasks.
package protocol SocketTasks: Sendable {
  /// A task that has not begun; nil for an address that the system cannot read.
  func make(_ request: MessageSocketRequest, on loop: any Loop, events: any SocketTaskEvents) -> (any SocketTask)?
}
