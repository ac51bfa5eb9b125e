extension ServerLimits {
  /// Bounds of WebSockets, in every protocol that is spoken on them.
  public struct WebSocket: Sendable {
    /// Bytes of one incoming message, after decompression. Operations are text written by people; 1 MiB is generous.
    public var messageBytes = 1_048_576
    /// Bytes of one incoming message of a client whose credentials have not been accepted. It has a token to send, and
    /// nothing large.
    public var strangerMessageBytes = 65_536
    /// Levels of arrays and objects in one incoming message. Variables nest as deep as input types do.
    public var messageDepth = 64
    /// Bytes of `start` messages kept of a client of the older protocols until its credentials have been checked, all
    /// of them together; further ones are refused. A page's operations fit, and an authorizer may take seconds.
    public var heldBytes = 65_536
    /// Payloads below this size are sent uncompressed to sockets with permessage-deflate: compressing them costs more
    /// than it saves.
    public var compressionThreshold = 128
    /// How long an upgraded socket may wait before `connection_init`. The reference server waits as long.
    public var connectionInitTimeout: Duration = .seconds(3)
    /// Time between `ka` messages to clients of the older `graphql-ws`, which take 30 seconds of silence for an end;
    /// nil sends none.
    public var keepAliveInterval: Duration? = .seconds(10)
    /// Malformed messages of one connection in a dialect that answers each and continues; one more closes it. Enough
    /// for a client with a defect to be found by its messages, too few to be worth sending.
    public var malformedMessages = 100
    /// `connection_init` messages of one connection in a dialect that answers each; one more closes it.
    public var initialisations = 10
    /// Silence after which a ping asks the peer for a sign of life.
    public var pingInterval: Duration = .seconds(12)
    /// How long a pong may take before the peer counts as gone.
    public var pongTimeout: Duration = .seconds(12)
    /// How long a close waits for the peer's part before the connection is dropped.
    public var closeTimeout: Duration = .seconds(5)

    // MARK: AppSync's dialect

    /// Time between `ka` messages to AppSync's clients: a fifth of `appSyncConnectionTimeout`, so that a few may be
    /// lost.
    public var appSyncKeepAliveInterval: Duration = .seconds(60)
    /// The `connectionTimeoutMs` sent to AppSync's clients: after this silence they reconnect. AppSync's five minutes.
    public var appSyncConnectionTimeout: Duration = .seconds(300)
    /// How long a connection of AppSync's dialect may live, so that its credentials are looked at again. AppSync's day;
    /// nil for no end.
    public var appSyncLifetime: Duration? = .seconds(86_400)
    /// How long an AppSync client's `connection_init` may follow its first `start`. Then it counts as left out, which
    /// the protocol's newest text allows, and the subscription begins; nil ignores it instead.
    public var appSyncInitGrace: Duration? = .milliseconds(250)

    /// The defaults.
    public init() {}
  }
}
