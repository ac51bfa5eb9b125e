/// Queries that start at about the same time share one HTTP request: a list of operations, answered by a list.
///
///     configuration.batching = BatchPolicy()
///
/// What shares a request waits for the slowest of it, so that this is for servers where a request costs more than a
/// query. Mutations, files, answers in parts and queries by GET go alone. A server that refuses lists is sent single
/// queries for the rest of the transport's life.
public struct BatchPolicy: Sendable, Hashable {
  /// Most queries of one request. What servers of this package take.
  public var operations: Int
  /// How long the first query waits for others. Shorter than a user notices, longer than a screen takes to ask.
  public var wait: Duration

  /// Up to ten queries within ten milliseconds, unless said otherwise.
  public init(operations: Int = 10, wait: Duration = .milliseconds(10)) {
    self.operations = operations
    self.wait = wait
  }
}
