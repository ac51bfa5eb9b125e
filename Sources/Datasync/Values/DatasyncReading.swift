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
  /// Time since the value was last known to be the server's: zero for the server's answer and while a listener is live.
  /// Since when an earlier process knew it, its file says; one that was killed may have known it later. Nil where
  /// nothing says it, as in files and texts of earlier versions.
  public let age: Duration?
}
