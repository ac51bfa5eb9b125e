extension ServerLimits {
  /// Bounds of what is served to one client, on a socket or a streamed response, and of the delivery of events.
  public struct Session: Sendable {
    /// Live operations on one connection. 100 is what AppSync grants and what client libraries plan for.
    public var operationsPerConnection = 100
    /// Bytes of an operation's id, which is repeated in every event. Clients use UUIDs or numbers.
    public var idBytes = 256
    /// Time between positions sent to clients that follow cursors, so that a quiet filter does not fall out of
    /// retention; nil sends none.
    public var positionInterval: Duration? = .seconds(20)

    /// How long before a caller's credentials end its client is warned, where the protocol can say so: enough for a
    /// refresh over a slow network.
    public var credentialsWarning: Duration = .seconds(60)

    // MARK: Slow readers

    /// Pending outgoing bytes at which a connection counts as lagging: nothing more is encoded for it until it drains.
    /// It bounds the memory of a slow reader together with `catchUpBytes`.
    public var highWaterBytes = 262_144
    /// Bytes encoded for a lagging connection in one step before its socket must drain again.
    public var catchUpBytes = 131_072
    /// Changes read from the log in one step of a catch-up.
    public var catchUpChanges = 1_000
    /// Pages of the log that a loop keeps for members that catch up: enough for the returning clients of one restart,
    /// bounded because each can have a MiB.
    public var catchUpPages = 64
    /// Bytes of events that subscriptions have caught up with, which a loop keeps for equal ones that catch up after
    /// them: some thousand events. What is not kept is encoded again.
    public var catchUpEventBytes = 1_048_576
    /// Work on catch-ups in one loop turn, over all clients that have come back: comparing a change with a subscription
    /// counts 1, writing it an event 16 more. About 3 ms, so that live events and other requests do not wait.
    public var catchUpWorkPerTurn = 16_384
    /// How long a catch-up waits before it asks a store again that has refused a read for overload. Short against a
    /// person's patience, long against the time of a read.
    public var readRetry: Duration = .milliseconds(50)
    /// Commits whose moments a loop remembers, to measure how long their events take: more than wait for an evaluation.
    /// Events of older ones are not measured.
    public var measuredGroups = 64

    // MARK: Fan-out

    /// Work on matching changes with subscriptions in one loop turn: looking a change up counts 1, encoding an event
    /// for a group of equal subscriptions 8 more. About 1 ms, so that a transaction of 10,000 changes delays nothing.
    public var matchingWorkPerTurn = 2_048
    /// Deliveries (member times event) in one loop turn, as far as `sendsPerTurn` allows. About 2 ms of encoding.
    public var deliveriesPerTurn = 16_384
    /// Connections that events are written to in one loop turn. A send costs 8 to 15 microseconds, so other requests
    /// on the loop wait about 1 ms for a fan-out, however many members a group has, and a write, which comes there
    /// twice, about 2 ms.
    public var sendsPerTurn = 64
    /// Distinct subscription filters without an equality field: each is evaluated for every event of its model. 1,000
    /// are about 0.1 ms.
    public var scannedFilters = 1_000
    /// Branches of one filter (values of `in`, parts of `or`): beyond, less of it is looked up and more is evaluated.
    public var branchesPerFilter = 256
    /// Combinations of fields by which one model's filters are looked up, each for every change: beyond, only one field
    /// is looked up.
    public var signaturesPerModel = 32
    /// Bytes of payloads that take reads or code of the program, kept for the loops that need them later.
    public var evaluatedBytes = 1_048_576
    /// Such payloads kept, however small: how far one loop may lag another.
    public var evaluatedPayloads = 256

    /// The defaults.
    public init() {}
  }
}
