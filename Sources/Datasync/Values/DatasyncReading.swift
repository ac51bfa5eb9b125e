/// A value, and where it comes from. What is not known is an error, never null.
public struct DatasyncReading: Sendable {
  /// Where a value comes from.
  public enum Source: Sendable, Hashable {
    /// The server answered.
    case server
    /// The server was not reached: the last value that is known here.
    case cache
  }

  /// The value.
  public let value: DatasyncValue
  /// Where it comes from.
  public let source: Source
  /// The server's revision of the value, opaque; nil from servers that do not say.
  public let revision: String?
  /// Time since the value was known to be the server's: zero for the server's answer and while a listener is live, nil
  /// when an earlier process knew it.
  public let age: Duration?
}
