/// The bounds of one listener.
package struct ListenerLimits: Sendable {
  /// Open connections in all; further ones are closed at once. Below the usual descriptor limit of a service, so that
  /// the store and the log keep theirs.
  package var connections = 100_000
  /// Open connections of one address; nil for no limit, which is the default because clients of a proxy share one.
  package var connectionsPerHost: Int?
  /// Connections accepted in one turn, so that a storm of them does not hold up the open ones.
  package var acceptsPerTurn = 64
  /// Connections accepted per second; beyond it they wait in the kernel's backlog. A restart brings every client back
  /// at once: 5,000 in three seconds must pass with room to spare.
  package var acceptsPerSecond = 10_000
  /// What the kernel queues for us; it cuts this to its own limit.
  package var backlog: Int32 = 4096
  /// Pause after accepting failed for want of descriptors or memory and the reserve did not help.
  package var exhaustedPause = Duration.milliseconds(100)
  /// How long a TLS handshake may take; peers that only open connections are dropped then.
  package var handshakeTime = Duration.seconds(10)
  /// Bytes of a PROXY header, extensions included. Proxies send below 600 bytes, also with a name of a certificate.
  package var proxyHeaderBytes = 4_096
  /// Idle seconds before the kernel probes a silent peer; nil leaves keep-alive off.
  package var keepAliveSeconds: Int32? = 60

  package init() {}
}
