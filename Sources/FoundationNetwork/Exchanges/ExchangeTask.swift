package import MartletRuntime

/// What an exchange needs of a task of the system's HTTP client: `URLSessionTask`, or a test's.
package protocol ExchangeTask: AnyObject {
  func resume()
  /// Stops reading. May be slow: called where that does no harm.
  func suspend()
  /// Ends the task; it may still call its events.
  func cancel()
}

/// What a task reports, on its loop.
package protocol ExchangeEvents: AnyObject {
  /// A stretch of the request's body has left.
  func sentBody()
  func received(head: HTTPExchangeHead)
  func received(body: [UInt8])
  /// Last.
  func completed(_ error: HTTPExchangeError?)
}

/// Makes tasks.
package protocol ExchangeTasks: Sendable {
  /// A task that has not begun. `isStream` is for responses that last: they must not take the connections of others.
  func make(_ request: HTTPExchangeRequest, isStream: Bool, events: any ExchangeEvents) -> any ExchangeTask
  /// Stops and restarts a task's reading away from the loop, in the order of the calls.
  func set(_ task: any ExchangeTask, paused: Bool)
}
