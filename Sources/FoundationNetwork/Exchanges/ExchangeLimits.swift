/// The bounds of exchanges over the system's HTTP client.
package struct ExchangeLimits: Sendable {
  /// Bytes that wait while an exchange is paused. A task that is suspended may still deliver what the system had read;
  /// beyond this the exchange ends with `overflow`, and a subscription resumes from its cursor.
  package var pausedBytes = 1 << 20
  /// Connections to one host for requests; what browsers use.
  package var connections = 6
  /// Connections to one host for streams, each of which has its own for as long as it lasts.
  package var streams = 100

  package init() {}
}
