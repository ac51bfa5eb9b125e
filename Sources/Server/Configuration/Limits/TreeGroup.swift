extension ServerLimits {
  /// Bounds of the synced tree.
  public struct Tree: Sendable {
    // MARK: Values

    /// Levels below the root. The Realtime Database and Webcom allow 32; rules evaluate one level for each.
    public var depth = 32
    /// Bytes of one key. The Realtime Database allows 768, so that its clients see no difference.
    public var keyBytes = 768
    /// Bytes of one text. The Realtime Database allows 10 MiB.
    public var textBytes = 10_485_760
    /// Bytes of one write, counted as keys, texts and eight bytes for each other value; also the body of a request. The
    /// Realtime Database's clients may send 16 MiB.
    public var writeBytes = 16_777_216
    /// Children of one node in one write. A million fits the memory of a small server; Webcom stops at 50,000.
    public var children = 1_000_000
    /// Leaves that a write is estimated to write and to delete in a second, by which the parameter `writeSizeLimit` of
    /// requests is judged: half of what one core does with the disk of a small server.
    public var estimatedLeaves = 20_000
    /// Paths of one merge: each is judged by rules and compared with the others.
    public var mergePaths = 100_000
    /// Bytes of one entry of the log with a change of the tree: the largest text with its path. A larger write takes
    /// several entries.
    public var entryBytes = 11_534_336
    /// Leaves of a node that is read or listened to; a larger one is refused. A million leaves take some 100 MB.
    public var nodeLeaves = 1_000_000

    // MARK: Connections

    /// Bytes of one text frame that is sent. The protocol's clients cut messages at as many characters.
    public var frameBytes = 16_384
    /// Bytes of one message over all its frames: the largest write and what stands around it.
    public var messageBytes = 17_825_792
    /// Bytes of one message of a client whose credentials have not been accepted, where guests are not admitted. It has
    /// a token to send, and nothing large.
    public var strangerMessageBytes = 65_536
    /// Messages of one client that wait until its tree is open and its session has begun: a keep-alive, and a first
    /// request of a hasty one. More end the connection.
    public var waitingMessages = 16
    /// Nested arrays and objects of one message: the tree's levels, and five around them.
    public var messageDepth = 64
    /// Listeners of one connection at a time: each is an entry of the loop's index.
    public var listens = 10_000
    /// Requests of one connection that were read and not answered; a client beyond it does not wait for answers.
    public var openRequests = 20_000
    /// Writes that one connection may leave for its end.
    public var deferredWrites = 1_000
    /// Keys that a client can name as those it has of a listener's window, so that only the rest is sent; of further
    /// ones the values are sent. Windows are pages of some dozens.
    public var windowKeys = 1_000
    /// Bytes of one of them, with the caller's claims: it is kept in the log and in a table until the session ends.
    public var deferredBytes = 1_048_576
    /// How long the clients of an earlier process are waited for before what they left is made: a restart, and the
    /// clients' way back.
    public var resumeGrace: Duration = .seconds(30)
    /// The longest time that a client may ask to be waited for.
    public var longestGrace: Duration = .seconds(3_600)
    /// How much longer the first of several such waits lasts: clients that are lost within this time are one commit.
    public var leaseStep: Duration = .milliseconds(250)
    /// Clients whose writes one commit makes: about half a second of the writer.
    public var expiriesAtOnce = 10_000
    /// Bytes that wait for a client before its listeners are shown whole values in place of each change.
    public var pendingBytes = 1_048_576
    /// Bytes of one part of a value that is sent in parts, each read when the client has taken the one before it: a
    /// hundredth of a second of reading, and few frames.
    public var partBytes = 262_144
    /// Values, or parts of them, that are read for one connection at a time; the others wait their turn.
    public var readsAtOnce = 32
    /// Time between two signs of life of an event stream: proxies cut silent streams after a minute.
    public var keepAlive: Duration = .seconds(30)

    /// Changes of the log that are read when a listener resumes; beyond it the whole value is sent. A quarter of a
    /// second of reading.
    public var resumeChanges = 50_000

    // MARK: Namespaces

    /// Trees beside the first one. Each that is open takes an entry of every loop and a few files.
    public var namespaces = 100
    /// Memory of their connections, page caches and recent changes, all of them together. Each gets the same part, at
    /// least 1 MiB: a smaller budget holds fewer than `namespaces`.
    public var namespaceBytes = 134_217_728

    // MARK: Rules

    /// Bytes of a rules file, whose check then takes less than a second.
    public var ruleFileBytes = 1_048_576
    /// Levels of nodes in a rules file: one more than the tree has, for the root.
    public var ruleLevels = 33
    /// Problems that the check of a rules file reports; more are the consequence of the first ones.
    public var ruleProblems = 100
    /// Bytes of one expression. Webcom allows 2,048; the Realtime Database states no limit.
    public var ruleExpressionBytes = 16_384
    /// Levels of one expression: evaluation uses a stack frame for each.
    public var ruleExpressionDepth = 100
    /// Instructions of one compiled regular expression: a match takes at most as many steps for each character.
    public var rulePatternInstructions = 2_000
    /// Steps of one evaluation: one for each part of the expression, and more for long texts and matches.
    public var ruleSteps = 100_000
  }
}
