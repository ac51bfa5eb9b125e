extension ServerLimits {
  /// Bounds of what waits for a collector of traces.
  public struct Tracing: Sendable {
    /// Spans that wait to be sent, about 400 bytes each. Beyond it new ones are dropped and counted: tracing must not
    /// take the memory of what it watches.
    public var waitingSpans = 4_096
    /// Spans of one request to the collector, about 200 KiB: what collectors take without a setting.
    public var spansPerRequest = 512
    /// Commits, and deliveries whose commit has not come, that are remembered for the spans of their events: more than
    /// are under way at a time.
    public var commits = 1_024
    /// The longest that a span waits for others to be sent with.
    public var delay: Duration = .seconds(1)
    /// How long a request to the collector may take; its spans are lost then.
    public var requestTimeout: Duration = .seconds(10)
    /// The longest pause after requests that failed; the first is a second, and each further one twice as long.
    public var longestPause: Duration = .seconds(30)
  }
}
