/// What the service's connection does.
public enum DatasyncState: Sendable, Hashable {
  /// Nothing has needed it yet.
  case idle
  /// An attempt is under way, or a pause before the next one.
  case connecting
  /// The server has greeted.
  case connected
  /// The application works without it: `isConnectionEnabled` is false.
  case disabled
  /// The server refuses the credentials, or said not to come back: there are no more attempts. `reconnect()` tries
  /// again.
  case failed(reason: String)
  /// The service was shut down.
  case shutDown
}
