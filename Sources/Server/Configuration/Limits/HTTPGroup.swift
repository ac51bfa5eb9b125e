extension ServerLimits {
  /// Bounds of connections, requests and streamed responses over HTTP, and of the event loops that serve them.
  public struct HTTP: Sendable {
    // MARK: Connections

    /// Open connections, over all loops; further ones are closed at once. A process commonly has 20,000 descriptors;
    /// some are needed for files.
    public var connections = 19_000
    /// Open connections of one address; nil sets no bound, because all clients of a proxy share its address.
    public var connectionsPerHost: Int?
    /// Connections accepted in one turn of the loop that accepts them, so that a storm of them does not hold up the
    /// open ones.
    public var acceptsPerTurn = 64
    /// Connections accepted in one second; beyond it they wait in the kernel's backlog. A restart brings every client
    /// back at once: 5,000 in three seconds must pass with room to spare.
    public var acceptsPerSecond = 10_000
    /// Connections that the kernel queues until they are accepted; it cuts this to its own limit.
    public var backlog = 4_096
    /// Pause after accepting failed for want of descriptors or memory: long enough for some connections to end.
    public var exhaustedPause: Duration = .milliseconds(100)
    /// How long a TLS handshake may take; peers that only open connections are dropped then.
    public var handshakeTime: Duration = .seconds(10)
    /// Bytes of a PROXY header, extensions included. Proxies send below 600 bytes, also with a name of a certificate.
    public var proxyHeaderBytes = 4_096
    /// TLS handshakes begun or continued in one turn. One costs about half a millisecond of CPU, so four bound the
    /// turn.
    public var handshakesPerTurn = 4
    /// Connections closed in one turn of their loop, beside as many as begin in it. One costs about 30 us with what ran
    /// on it, so sixteen are half a millisecond, however many clients are lost at once.
    public var closingsPerTurn = 16
    /// Silence after which the kernel probes a peer; nil never does. Behind the server's own pings and heartbeats.
    public var tcpKeepAlive: Duration? = .seconds(60)

    // MARK: Requests

    /// Bytes of one HTTP request line. It holds a `GET` with a sizeable document, and AppSync's authorization in a
    /// query.
    public var requestLineBytes = 16_384
    /// Bytes of the header fields of one request. Several large tokens fit.
    public var headerBytes = 32_768
    /// Header fields of one request. Browsers behind proxies send about 40.
    public var headerFields = 128
    /// Bytes of one request body without files.
    public var bodyBytes = 1_048_576
    /// Arrays and objects inside each other in the JSON of one request to the GraphQL endpoints: far beyond written
    /// data, and far below the stack that walking through it uses.
    public var bodyDepth = 128
    /// Bytes that are read and dropped of the body of a request that is refused by its head, so that its connection can
    /// be kept; a larger body ends the connection. Of callers whose credentials are not accepted no more is read.
    public var refusedBodyBytes = 65_536
    /// Bytes of the line before one chunk of a body, whose extensions are ignored.
    public var chunkLineBytes = 256
    /// Bytes of further requests kept while a response is under way; beyond them the connection is not read.
    public var pipelinedBytes = 65_536
    /// Bytes of one request body with files, all of them together. It is held in memory until the operation ends.
    public var uploadBytes = 10_485_760
    /// Files of one request.
    public var uploadedFiles = 20
    /// Other fields of a form with files, which are ignored.
    public var formFields = 20
    /// Operations in one request. A screen asks for a handful; more would let one request hold the server.
    public var operationsPerRequest = 10
    /// How long a request may take to arrive whole, from its first byte.
    public var requestTimeout: Duration = .seconds(15)
    /// How long a keep-alive connection may stay idle between requests.
    public var idleTimeout: Duration = .seconds(75)

    // MARK: Streamed responses

    /// Time between signs of life on subscriptions over HTTP. They keep proxies from taking silence for an end, and
    /// find clients that are gone.
    public var streamHeartbeatInterval: Duration = .seconds(10)
    /// Event streams that clients have reserved and not opened yet, and operations that wait for them, over all
    /// connections. A client opens its stream right after it has reserved it.
    public var reservedStreams = 1_000
    /// How long a reserved event stream waits to be opened.
    public var streamReservationTimeout: Duration = .seconds(30)
    /// How long a client may read nothing of a streamed response that has bytes for it before it counts as gone; as
    /// long as a WebSocket takes to find out by a ping.
    public var unreadTimeout: Duration = .seconds(24)

    // MARK: Event loops

    /// How far an event loop may lag: a request over HTTP that has waited longer to be read is answered with 503 and
    /// `OVERLOADED` before anything else is done with it. Long enough for a request on every connection at once.
    public var loopLag: Duration = .seconds(1)
    /// Events of sockets taken in one turn, at most 256. More would only make the latency of the last one longer.
    public var eventsPerTurn = 256
    /// Posted work run in one turn, so that work that posts work does not keep sockets waiting.
    public var jobsPerTurn = 4_096
    /// Requests and WebSocket messages that a loop takes up in one turn beyond the first of each connection. The others
    /// of a read wait for the next turns in line with those of other connections, and their connection is not read
    /// meanwhile. A small one costs about 20 us, so that 32 hold up the loop's other clients for less than a
    /// millisecond, however many one client sends at once; with 16, such a client's messages cost a tenth more.
    public var messagesPerTurn = 32
    /// Bytes read from a socket at once. Each loop has one such buffer: a full socket buffer of small frames.
    public var readBytes = 65_536
    /// Bytes of one connection that the peer has not taken; beyond it the connection is dropped. A last resort, as
    /// `session.highWaterBytes` stops writing long before.
    public var pendingBytes = 16_777_216
    /// Capacity that a pooled outgoing buffer may have. One event for one subscriber has a few hundred bytes.
    public var pooledBufferBytes = 16_384
    /// Capacity of all pooled buffers of one loop: what a busy loop keeps when all its connections are idle.
    public var poolBytes = 8_388_608
    /// How long a closing connection waits for the peer to take any of what is pending.
    public var flushTime: Duration = .seconds(10)
    /// How long a closing connection waits for the peer's end of stream after its own, so that the last bytes are not
    /// lost to a reset (RFC 9112 section 9.6). A peer on a slow line is still receiving then.
    public var lingerTime: Duration = .seconds(5)

    // MARK: The end of the server

    /// How long open operations may finish at shutdown before their connections are closed.
    public var shutdownGrace: Duration = .seconds(5)
    /// How long the server waits at shutdown, once all is answered, for clients to close their ends. Long enough for
    /// the last answers to be read; clients that keep unused connections may never close them.
    public var shutdownLinger: Duration = .milliseconds(500)

    /// The defaults.
    public init() {}
  }
}
