extension ServerLimits {
  /// Bounds of what one connection, one identity and one address may use. None is set by default: an API key that many
  /// applications share is one identity, and a network behind one router is one address. What is beyond a bound is
  /// refused with the code `RATE_LIMITED` and, over HTTP, with 429 and `Retry-After`; nothing of it is executed.
  /// Messages of the tree's WebSocket wait instead, because its clients give up what is refused.
  ///
  /// Behind a proxy, addresses are those of its clients only where `ServerConfiguration.trustedProxies` names it.
  public struct Callers: Sendable {
    /// WebSockets of one identity at once. Several devices of one person are a handful; a page opens one for each tab.
    public var connectionsPerIdentity: Int?
    /// WebSockets of one address at once. A company's router may stand for thousands.
    public var connectionsPerAddress: Int?
    /// Live subscriptions of one identity, over all its connections.
    public var subscriptionsPerIdentity: Int?
    /// Live subscriptions of one address, over all its connections.
    public var subscriptionsPerAddress: Int?
    /// Operations of one connection in a second: those of GraphQL, messages of the tree's WebSocket, and requests
    /// to other endpoints.
    public var operationsPerSecondPerConnection: Int?
    /// Operations of one identity in a second: those of GraphQL, messages of the tree's WebSocket, and requests
    /// to other endpoints.
    public var operationsPerSecondPerIdentity: Int?
    /// Operations of one address in a second: those of GraphQL, messages of the tree's WebSocket, and requests
    /// to other endpoints.
    public var operationsPerSecondPerAddress: Int?
    /// Bytes of requests of one connection in a second.
    public var bytesPerSecondPerConnection: Int?
    /// Bytes of requests of one identity in a second.
    public var bytesPerSecondPerIdentity: Int?
    /// Bytes of requests of one address in a second.
    public var bytesPerSecondPerAddress: Int?
    /// Estimated cost of operations of one connection in a second, counted as `query.complexity` is.
    public var costPerSecondPerConnection: Int?
    /// Estimated cost of operations of one identity in a second.
    public var costPerSecondPerIdentity: Int?
    /// Estimated cost of operations of one address in a second.
    public var costPerSecondPerAddress: Int?
    /// How many seconds' worth of a rate may be used at once: a page that is opened asks for all it shows.
    public var burst: Duration = .seconds(5)
    /// How long the next request or message of a connection is not read after an operation that was refused with
    /// `RATE_LIMITED`, and up to twice as long where several connections wait, so that they come back one after the
    /// other. Refusing takes about as long as serving a small query, so that a client which asks again at once would
    /// slow all others; ten refusals a second and connection do not. Zero reads on at once.
    public var refusedPause: Duration = .milliseconds(100)
    /// Requests or WebSocket messages of one connection that a loop takes up in one turn after one that was refused
    /// with `RATE_LIMITED`, or that had to wait, until it has brought at most as many. What its caller may use again
    /// after a pause would be used in one turn otherwise; one by one, another client waits for one of them at most.
    /// `http.messagesPerTurn` holds as well.
    public var messagesPerTurn = 1
    /// Identities and addresses that are counted apart, about 200 bytes each. Beyond them, those that are new share one
    /// count.
    public var counted = 100_000

    /// The defaults.
    public init() {}
  }
}
