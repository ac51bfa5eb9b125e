extension ServerLimits {
  /// Bounds of webhooks and push.
  public struct Channels: Sendable {
    /// Subscriptions of channels at a time: each follows the log on one loop and has a record of its own.
    public var subscriptions = 1_000
    /// Subscriptions of one caller that is not an administrator, so that one cannot take the places of all.
    public var subscriptionsPerCaller = 100
    /// How long a subscription continues after the end of the last token that its owner has shown at `/channels`. It is
    /// suspended then until the owner shows another one.
    public var ownerAbsence: Duration = .seconds(2_592_000)
    /// Devices that are registered for push: each is an entry of the log and a row of the store.
    public var devices = 100_000
    /// Devices of one caller that is not an administrator.
    public var devicesPerCaller = 20
    /// Requests about subscriptions and devices that wait at the start, until what the store has of them is read;
    /// further ones are refused.
    public var waitingRequests = 1_000
    /// Bytes of a request that declares a subscription or a device, its context included.
    public var definitionBytes = 16_384
    /// Attempts after which an event becomes a dead letter: about five hours with the pauses below.
    public var attempts = 16
    /// The pause before the second attempt; each further one is twice as long, and up to half of it is left to chance.
    public var firstPause: Duration = .seconds(1)
    /// The longest pause, and the longest `Retry-After` that is obeyed.
    public var longestPause: Duration = .seconds(3_600)
    /// Events of one subscription that wait in memory; what follows is read from the log later.
    public var queuedEvents = 256
    /// Bytes of those events.
    public var queuedBytes = 1_048_576
    /// Bytes of one event's body; a larger one is sent without its value and says so.
    public var eventBytes = 262_144
    /// Dead letters of one subscription. With one more it waits until an operator has delivered or discarded some.
    public var deadLetters = 100
    /// Bytes of those dead letters, which each record in the log carries along.
    public var deadLetterBytes = 262_144
    /// Bytes of one subscription's record in the log: dead letters, and the children's keys where their kinds are asked
    /// for. A definition of the store has at most a mebibyte.
    public var recordBytes = 917_504
    /// Time between two records of one subscription: what was delivered since the last one is delivered again after a
    /// crash.
    public var recordInterval: Duration = .seconds(1)
    /// Time after which a position that moved without a delivery is recorded, so that it stays within retention.
    public var idleRecordInterval: Duration = .seconds(60)
    /// Leaves of a node that a subscription follows: its value is kept in memory.
    public var nodeLeaves = 100_000
    /// Requests to one webhook at a time.
    public var concurrentDeliveries = 4
    /// Requests to one push service at a time; those to APNs share a connection.
    public var concurrentPushes = 64
    /// Time for one request, its answer included: a receiver that hangs holds one of the places above so long.
    public var deliveryTime: Duration = .seconds(15)
    /// Time for the connection of one request.
    public var connectTime: Duration = .seconds(5)
    /// Bytes of a receiver's answer; a longer one is a failed attempt.
    public var answerBytes = 65_536
  }
}
