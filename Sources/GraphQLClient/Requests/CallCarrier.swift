/// Sends calls to one origin: over connections of a pool, or by a complete HTTP client. Confined to its loop.
package protocol CallCarrier: AnyObject {
  /// Sends a call as soon as a connection is there. `completion` runs once, never inside this call, not after `cancel`.
  ///
  /// - Parameters:
  ///   - part: takes each part of an answer that comes in parts.
  ///   - moved: called when a stretch of a body with files has left.
  func start(
    _ call: HTTPCall, part: (([UInt8]) -> Void)?, moved: (() -> Void)?,
    completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) -> HTTPTicket

  /// Closes all connections. Calls under way are to be cancelled before.
  func close()
}

extension CallCarrier {
  package func start(
    _ call: HTTPCall, completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) -> HTTPTicket {
    start(call, part: nil, moved: nil, completion: completion)
  }
}
