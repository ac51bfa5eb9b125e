import MartletServer

/// A server for many small applications: each caller has a share, and clients may be away for a month.
enum SetLimits {
  static func configuration(schema: String) -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    // Requests of this server's applications are small; larger ones are refused with 413.
    configuration.limits.http.bodyBytes = 64 * 1_024
    // Beyond a rate, operations are refused with RATE_LIMITED; 5 seconds' worth of it may be used at once.
    configuration.limits.callers.operationsPerSecondPerIdentity = 20
    configuration.limits.callers.connectionsPerIdentity = 10
    // Whichever is reached first: the log is kept for 30 days, or up to 8 GiB of it.
    configuration.limits.store.retention = .seconds(30 * 86_400)
    configuration.limits.store.retentionBytes = 8 * 1_073_741_824
    return configuration
  }
}
