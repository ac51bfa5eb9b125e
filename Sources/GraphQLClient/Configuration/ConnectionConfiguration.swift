public import MartletJSON
public import MartletVocabulary

/// How a client talks to its server. Every deadline and bound is here.
///
///     var configuration = ConnectionConfiguration()
///     configuration.credentials = { reason in .bearer(try await session.token(renewed: reason.isRefusal)) }
///     configuration.pingInterval = .seconds(30)
///     let client = try GraphQLClient(url: url, configuration: configuration)
public struct ConnectionConfiguration: Sendable {
  /// How queries and mutations travel.
  public enum RequestTransport: Sendable, Hashable {
    /// One HTTP request each, over connections that are kept.
    case http
    /// The socket of the subscriptions, in the order they were asked for.
    case socket
  }

  /// How subscriptions travel.
  public enum SubscriptionTransport: Sendable, Hashable {
    /// As the client's URL says: `ws:` and `wss:` by WebSocket, `http:` and `https:` by HTTP. Settings that only a
    /// WebSocket has mean one with any URL: another dialect than `graphqlTransportWS`, and `requestTransport =
    /// .socket`.
    case byURL
    /// One HTTP response each, in parts. It ends with its connection.
    case http
    /// One WebSocket for all of them, which survives drops.
    case socket
  }

  /// The protocol spoken over the WebSocket.
  public var dialect = Dialect.graphqlTransportWS
  /// How the client authorizes itself where `dialect` is `.appSync`.
  public var appSync = AppSyncConfiguration()
  /// How queries and mutations travel.
  public var requestTransport = RequestTransport.http
  /// How subscriptions of `GraphQLClient(url:)` travel.
  public var subscriptionTransport = SubscriptionTransport.byURL
  /// How subscriptions that go by HTTP are asked for; what the server answers is read either way.
  public var subscriptionMediaType = SubscriptionMediaType.multipart
  /// Makes the connections of subscriptions by HTTP again when they are lost, as `reconnect` says; the state is
  /// `reconnecting` meanwhile. Otherwise a lost connection ends its subscriptions with an error that carries their
  /// place.
  public var resumesHTTPSubscriptions = false
  /// How operations with `@defer` or `@stream` are asked for.
  public var incrementalDelivery = IncrementalDelivery.both
  /// Sends queries and mutations by their hash; nil always sends documents. Off by default: a server that does not know
  /// of it costs every operation one more request.
  public var persistedOperations: PersistedOperationPolicy?
  /// Sends queries that start at about the same time as one HTTP request; nil sends each alone.
  public var batching: BatchPolicy?
  /// Time for a query or mutation, credentials, connections and repeats included; it restarts with every part of an
  /// answer that comes in parts, and with every stretch of a file that is sent. A mutation that may have been
  /// executed by then fails with `outcomeUnknown`, anything else with `timeout`.
  public var requestTimeout = Duration.seconds(60)
  /// HTTP connections kept to the server at a time; six is what browsers use.
  public var httpConnections = 6
  /// Queries and mutations that wait for one of them; more fail with `overloaded`.
  public var waitingRequests = 1_000
  /// How long an unused HTTP connection is kept: shorter than servers keep theirs, so that a request seldom meets one
  /// that is just being closed.
  public var httpIdleTimeout = Duration.seconds(15)
  /// Takes for granted that the server remembers write numbers, so that `appliesOnce` mutations may be sent again from
  /// the first one on. Otherwise the server has to say so first; this package's does with its first answer.
  public var assumesWriteNumbers = false
  /// Certificate authorities to trust in place of the system's: a PEM file.
  public var authorityFile: String?
  /// The client's own certificate, with the chain after it, for servers that ask for one: a PEM file.
  public var certificateFile: String?
  /// The private key of `certificateFile`, a PEM file; nil when it is in the same file.
  public var keyFile: String?
  /// Public keys of which the server must show one, besides a certificate that is good: each the SHA-256 digest of a
  /// SubjectPublicKeyInfo, in base64. Empty accepts every key. Keep a second one for the day the first is replaced.
  public var pinnedPublicKeys: [String] = []
  /// An HTTP proxy for requests and WebSockets, such as `http://proxy.example:3128`. Nil takes the one that the
  /// variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` name, if any.
  public var proxy: String?
  /// Time for name, connection, TLS and the WebSocket handshake of one attempt.
  public var openTimeout = Duration.seconds(15)
  /// Time the server has to acknowledge `connection_init`; without it a silent server would hold callers for ever.
  public var acknowledgementTimeout = Duration.seconds(10)
  /// Silence after which a ping asks the server for life; nil never asks.
  public var pingInterval: Duration? = .seconds(15)
  /// Silence after a ping by which the connection counts as dead.
  public var pongTimeout = Duration.seconds(10)
  /// Silence after a first `ka` by which a server of the older `graphql-ws` counts as dead. AppSync's says itself how
  /// long it may be silent.
  public var keepAliveTimeout = Duration.seconds(30)
  /// How lost connections are dialled again, and requests by HTTP that found no connection.
  public var reconnect = ReconnectPolicy()
  /// Asked for credentials at every attempt.
  public var credentials: CredentialProvider?
  /// How long before credentials end others are asked for: enough for a refresh over a slow network. Credentials that
  /// are good for less than twice as long are renewed when half of their time is over.
  public var credentialLead: Duration = .seconds(30)
  /// Time the provider has; a hanging one must not hold callers for ever.
  public var credentialTimeout = Duration.seconds(30)
  /// What `connection_init` carries besides the credentials' payload.
  public var connectingPayload = JSONObject()
  /// More header fields of the WebSocket handshake and of HTTP requests.
  public var headers: [(name: String, value: String)] = []
  /// Closes a connection that has had no operation for so long; nil keeps it. One that was opened because others were
  /// full is closed after ten seconds even so.
  public var idleTimeout: Duration?
  /// Subscriptions, and with `requestTransport` `.socket` other operations too, on one WebSocket. One more opens
  /// another socket; so does a server that refuses one because the connection has as many as it allows. A hundred is
  /// AppSync's limit, and the default of this package's server.
  public var subscriptionsPerConnection = 100
  /// WebSockets at a time. When all are full, the next operation fails with `overloaded`: a bound for programs that
  /// forget to cancel.
  public var socketConnections = 32
  /// Asks servers for cursors, so that subscriptions resume without a gap.
  public var resumes = true
  /// Bound of each subscription's buffer, unless it names its own.
  public var buffer = BufferPolicy()
  /// Offers to compress the socket's messages (permessage-deflate).
  public var compresses = true
  /// Longest message and HTTP body accepted from the server, after decompression.
  public var messageBytes = 16 << 20

  /// The defaults.
  public init() {}

  /// How long an empty connection that was opened because others were full is kept for the next subscription.
  static let spareTimeout = Duration.seconds(10)

  var poolLimits: HTTPPool.Limits {
    var limits = HTTPPool.Limits()
    limits.connections = httpConnections
    limits.waiting = waitingRequests
    limits.idle = httpIdleTimeout
    limits.bodyBytes = messageBytes
    return limits
  }
}
