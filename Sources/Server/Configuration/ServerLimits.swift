/// Every bound the server sets, with its default and reason. They are `ServerConfiguration.limits`, and hold from the
/// moment the server is made.
public struct ServerLimits: Sendable {
  /// Open connections, over all loops. A process commonly has 20,000 descriptors; some are needed for files.
  public var connections = 19_000
  /// Live operations on one connection. 100 is what AppSync grants and what client libraries plan for.
  public var operationsPerConnection = 100
  /// Bytes of one incoming WebSocket message. Operations are text written by people; 1 MiB is generous.
  public var messageBytes = 1_048_576
  /// Bytes of one HTTP request line. It holds a `GET` with a sizeable document, and AppSync's authorization in a query.
  public var requestLineBytes = 16_384
  /// Bytes of the header fields of one HTTP request. Several large tokens fit.
  public var headerBytes = 32_768
  /// Bytes of one HTTP request body without files.
  public var bodyBytes = 1_048_576
  /// Bytes that are read and dropped of the body of a request that is refused by its head, so that its connection can
  /// be kept; a larger body ends the connection. Callers whose credentials are not accepted get no more than that read.
  public var refusedBodyBytes = 65_536
  /// Bytes of one HTTP request body with files, all of them together. It is held in memory until the operation ends.
  public var uploadBytes = 10_485_760
  /// Files of one HTTP request.
  public var uploadedFiles = 20
  /// Operations in one HTTP request. A screen asks for a handful; more would let one request hold the server.
  public var operationsPerRequest = 10
  /// Documents kept for clients that name them by their hash; zero keeps none and says so.
  public var persistedOperations = 2_000
  /// Pending outgoing bytes at which a connection counts as lagging: nothing more is encoded for it until it drains.
  /// It bounds the memory of a slow reader together with `catchUpBytes`.
  public var highWaterBytes = 262_144
  /// Bytes encoded for a lagging connection in one step before its socket must drain again.
  public var catchUpBytes = 131_072
  /// Changes read from the log in one step of a catch-up.
  public var catchUpChanges = 1_000
  /// Deliveries (member times event) in one loop turn, as far as `sendsPerTurn` allows. About 2 ms of encoding.
  public var deliveriesPerTurn = 16_384
  /// Connections that events are written to in one loop turn. A send costs about 8 microseconds, so other requests on
  /// the loop wait about 2 ms for a fan-out, however many members a group has.
  public var sendsPerTurn = 256
  /// How long an upgraded socket may wait before `connection_init`. The reference server waits as long.
  public var connectionInitTimeout: Duration = .seconds(3)
  /// Between `ka` messages to clients of the older `graphql-ws`, which take 30 seconds of silence for death; nil sends
  /// none.
  public var keepAliveInterval: Duration? = .seconds(10)
  /// Malformed messages of one connection in a dialect that answers each and continues; one more closes it. Enough for
  /// a client with a defect to be found by its messages, too few to be worth sending.
  public var malformedMessages = 100
  /// `connection_init` messages of one connection in a dialect that answers each; one more closes it.
  public var initialisations = 10
  /// Between `ka` messages to AppSync's clients: a fifth of `appSyncConnectionTimeout`, so that a few may be lost.
  public var appSyncKeepAliveInterval: Duration = .seconds(60)
  /// The `connectionTimeoutMs` sent to AppSync's clients: after this silence they reconnect. AppSync's five minutes.
  public var appSyncConnectionTimeout: Duration = .seconds(300)
  /// How long a connection of AppSync's dialect may live, so that its credentials are looked at again. AppSync's day;
  /// nil for ever.
  public var appSyncLifetime: Duration? = .seconds(86_400)
  /// How long an AppSync client's `connection_init` may follow its first `start`. Then it counts as left out, which the
  /// protocol's newest text allows, and the subscription begins; nil ignores it instead.
  public var appSyncInitGrace: Duration? = .milliseconds(250)
  /// Between signs of life on subscriptions over HTTP. They keep proxies from taking silence for death, and find out
  /// that a client has gone without a word.
  public var streamHeartbeatInterval: Duration = .seconds(10)
  /// Event streams that clients have reserved and not opened yet, and operations that wait for them, over all
  /// connections. A client opens its stream in the next breath; what it reserves costs it nothing.
  public var reservedStreams = 1_000
  /// How long a reserved event stream waits to be opened.
  public var streamReservationTimeout: Duration = .seconds(30)
  /// Between positions sent to clients that follow cursors, so that a quiet filter does not fall out of retention; nil
  /// sends none.
  public var positionInterval: Duration? = .seconds(20)
  /// Payloads below this size are sent uncompressed to sockets with permessage-deflate: compressing them costs more
  /// than it saves.
  public var compressionThreshold = 128
  /// Silence after which a WebSocket ping asks for a sign of life.
  public var pingInterval: Duration = .seconds(12)
  /// How long a pong may take before the peer counts as gone.
  public var pongTimeout: Duration = .seconds(12)
  /// How long a client may read nothing of a streamed response that has bytes for it before it counts as gone; as long
  /// as a WebSocket takes to find out by a ping.
  public var unreadTimeout: Duration = .seconds(24)
  /// How long a request may take to arrive whole, from its first byte.
  public var requestTimeout: Duration = .seconds(15)
  /// How long a keep-alive connection may stay idle between requests.
  public var idleTimeout: Duration = .seconds(75)
  /// How long one operation may run before it is answered with an error.
  public var operationTimeout: Duration = .seconds(30)
  /// How long the later parts of a response (`@defer`, `@stream`) may take after its first. Then those still missing
  /// are reported as failed, so that a resolver that never answers holds no connection for ever.
  public var deliveryTimeout: Duration = .seconds(60)
  /// Mutations waiting for the writer, over all connections; beyond it they are refused with `OVERLOADED`.
  public var queuedWrites = 8_192
  /// Read requests waiting for a reader; beyond it they are refused with `OVERLOADED`.
  public var queuedReads = 8_192
  /// How far an event loop may be behind: a request over HTTP that has waited longer to be read is answered with 503
  /// and `OVERLOADED` before anything else is done with it. Long enough for a request on every connection at once.
  public var loopLag: Duration = .seconds(1)
  /// Compiled plans kept, by document and operation name. The least recently used leaves.
  public var cachedPlans = 1_024
  /// Bytes of recent batches kept in memory for catch-up before the log on disk is read.
  public var ringBytes = 16 * 1_048_576
  /// Distinct subscription filters without an equality field: each is evaluated for every event of its model.
  public var scannedFilters = 1_000
  /// How long open operations may finish at shutdown before their connections are closed.
  public var shutdownGrace: Duration = .seconds(5)
  /// How long the server waits at shutdown, once all is answered, for clients to close their ends. Long enough for the
  /// last answers to be read; clients that keep unused connections may never close them.
  public var shutdownLinger: Duration = .milliseconds(500)

  /// The defaults.
  public init() {}
}
