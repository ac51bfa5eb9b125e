extension ServerLimits {
  /// Bounds of the embedded store.
  public struct Store: Sendable {
    // MARK: Writes

    /// Mutations waiting for the writer, over all connections; beyond it they are refused with `OVERLOADED`.
    public var queuedWrites = 8_192
    /// Operations in one group commit. A group of 1,000 holds the writer up to 50 ms; 256 gains nearly as much.
    public var groupOperations = 256
    /// Operations of a write that shares its group with others: some milliseconds of the writer. A larger write is a
    /// group of its own, and later writes pass it until it has begun.
    public var smallWrite = 128
    /// Groups that pass a large write at most before it is its turn: about a tenth of a second under full load.
    public var groupsBeforeLarge = 16
    /// Records that one write creates before it is inserted in slices, between the groups of other writes: about four
    /// milliseconds of the writer. A write with other operations, with a number of its client or of models with rules
    /// is always made in one piece.
    public var wholeWrite = 1_024
    /// Records of such a write that are inserted between two groups: about a millisecond of the writer.
    public var stagedRows = 256
    /// Operations of all mutations that wait for the writer; beyond it they are refused with `OVERLOADED`. Six of the
    /// largest transactions.
    public var queuedOperations = 65_536
    /// How long the closure of `GraphQLServer.transaction` may hold the writer.
    public var transactionTime: Duration = .milliseconds(500)
    /// Changes one transaction may make, those of relations with `onDelete` apart. Batches reach subscribers whole. A
    /// write of the tree is one change, however many paths it has.
    public var transactionChanges = 10_000
    /// Changes that relations with `onDelete` may add to one write: a few seconds of the writer, and so rare.
    public var cascadeChanges = 100_000
    /// Bytes of one record in the log, the size AppSync's users know with room to spare. An update takes up to as many
    /// again for the values it replaces.
    public var recordBytes = 1_048_576
    /// Bytes of one event of a topic in the log.
    public var eventBytes = 1_048_576
    /// Bytes of one log entry with a numbered write's outcome: 10,000 changed records with keys of 100 bytes. The
    /// outcome of a write with more changes takes several entries.
    public var outcomeBytes = 1_048_576
    /// Bytes of a refusal's message that resends get; the rest is cut off.
    public var refusalMessageBytes = 1_024
    /// Bytes of a schema change in the log, the schema's text included.
    public var schemaBytes = 16_777_216
    /// Numbered writes of one client whose outcomes are kept because it has not acknowledged them; beyond it, new ones
    /// are refused as overloaded. A client waits for few answers at a time.
    public var unacknowledgedWrites = 1_000
    /// Clients whose outcomes are kept; beyond it, those that wrote longest ago expire.
    public var writeClients = 100_000

    // MARK: Reads

    /// Read requests waiting for a reader; beyond it they are refused with `OVERLOADED`.
    public var queuedReads = 8_192
    /// Reader threads for records by key and the log, and as many again for lists. Reads are short and cached; two keep
    /// a slow one from holding up the others.
    public var readers = 2
    /// How much the threads that read lists give way to the process's others, in steps of `nice` from 0 to 19. With
    /// five they have a third of the weight: on busy processors lists wait for writes, events, records by key and the
    /// loop, more than those for a list.
    public var listNiceness = 5
    /// How long one read may take, waiting included, when its operation has no deadline.
    public var readTime: Duration = .seconds(5)
    /// How long one snapshot of a reader lasts at most. A snapshot keeps the write-ahead log from starting over; lists
    /// are read in slices, so that none needs longer.
    public var snapshotTime: Duration = .seconds(1)
    /// Rows that one slice of a list looks at: about a millisecond.
    public var sliceRows = 512
    /// Short reads that one reader serves before a slice is due, so that lists make progress under any load.
    public var readsBetweenSlices = 16
    /// Lists that one reader reads in turn; later ones wait until one of them is finished.
    public var activeScans = 16
    /// Rows that are looked at for one page of a list; beyond it the list is refused, with the index that would find
    /// them.
    public var scannedRows = 100_000
    /// Values of one `in` of a list that an index is asked for one after the other; a longer list is decided row by
    /// row, which costs less than as many seeks in a table of common size.
    public var soughtValues = 64
    /// Records of a model up to which a condition is tried on all of them to say how many a sync will bring, some
    /// 20 ms; beyond it the number is not said.
    public var countedRows = 1_000_000
    /// Damaged places of the log that are reported, each once: a log with more is beyond single reports.
    public var reportedDamages = 256

    // MARK: The change log

    /// How long the change log is kept at least in time: what a client may miss and still catch up. A weekend away and
    /// more.
    public var retention: Duration = .seconds(604_800)
    /// Bytes of the change log kept at most.
    public var retentionBytes = 1_073_741_824
    /// Bytes of recent batches kept in memory for catch-up before the log on disk is read.
    public var ringBytes = 16_777_216
    /// How long deletions are remembered, and clients that number their writes after their last one: what AppSync's
    /// tables keep by default. A client that was away for longer begins with a fresh copy.
    public var tombstoneAge: Duration = .seconds(2_592_000)
    /// Expired rows of each kind that one group deletes at most, or twice what it wrote when that is more: about a
    /// millisecond of the writer.
    public var forgottenAtOnce = 512
    /// Bytes of log entries that one group deletes at most, or twice what it wrote: large entries cost by their pages.
    public var forgottenBytesAtOnce = 4_194_304
    /// Children of the tree that one commit adds to a new index of the rules, or rows of a dropped one that it deletes:
    /// some milliseconds of the writer.
    public var indexedAtOnce = 512
    /// Starts of the server that are remembered; cursors of older ones are gaps.
    public var terms = 1_000

    // MARK: Files

    /// Pages of write-ahead log after which a checkpoint runs between groups: 4 MiB.
    public var checkpointPages = 1_000
    /// How long a checkpoint waits for readers before the writer continues with the write-ahead log as it is; it tries
    /// again after `checkpointPages` more. Snapshots end after `snapshotTime`, so that one of the attempts succeeds.
    public var checkpointWait: Duration = .milliseconds(10)
    /// Pages of write-ahead log after which the writer waits for readers to let it start over: 256 MiB.
    public var largestLogPages = 65_536
    /// Pages that a backup copies between two groups, besides as many as these have added: half a millisecond of the
    /// writer.
    public var backupPages = 64
    /// Bytes of pages that each connection to the file keeps in memory: one of the writer, two for each of `readers`.
    public var cacheBytes = 16_777_216

    /// The defaults.
    public init() {}
  }
}
