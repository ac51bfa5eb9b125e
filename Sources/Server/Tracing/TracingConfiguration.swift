/// Where the server sends the traces of what it does: an OpenTelemetry collector, by OTLP over HTTP in JSON.
///
/// ```swift
/// configuration.tracing = TracingConfiguration(endpoint: "http://127.0.0.1:4318/v1/traces")
/// ```
///
/// A request that carries `traceparent`, as a header field or among its `extensions`, continues its caller's trace, and
/// is recorded when its caller's is. Traces hold names of operations, fields and models, and sizes; never values.
/// `ServerLimits.tracing` bounds what waits for the collector.
public struct TracingConfiguration: Sendable {
  /// The collector's address for traces, which usually ends in `/v1/traces`.
  public var endpoint: String
  /// Further header fields of each request, such as a key.
  public var headers: [(name: String, value: String)] = []
  /// The name under which the collector shows the server.
  public var serviceName = "martlet"
  /// How many of the requests that continue no trace begin one, from 0 to 1.
  public var share = 1.0

  /// Traces for a collector, everything else by default.
  public init(endpoint: String) {
    self.endpoint = endpoint
  }
}
