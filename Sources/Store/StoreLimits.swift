package import MartletVocabulary

/// Every bound of the store, with its default and reason.
package struct StoreLimits: Sendable, Equatable {
  /// Operations in one group commit. A group of 1,000 holds the writer up to 50 ms; 256 gains nearly as much.
  package var groupOperations = 256
  /// Operations of a write that shares its group with others: some milliseconds of the writer. A larger write is a
  /// group of its own, and later writes pass it until it has begun.
  package var smallWrite = 128
  /// Groups that pass a large write at most before it is its turn: about a tenth of a second under full load.
  package var groupsBeforeLarge = 16
  /// Records that one write creates before it is inserted in slices, between the groups of other writes: about four
  /// milliseconds of the writer. A write with other operations, with a number of its client or of models with rules is
  /// always made in one piece.
  package var wholeWrite = 1_024
  /// Records of such a write that are inserted between two groups: about a millisecond of the writer.
  package var stagedRows = 256
  /// Writes that may wait for the writer; later ones are refused as overloaded. About half a second of work.
  package var queuedWrites = 16_384
  /// Operations of all writes that wait; later writes are refused as overloaded. Six of the largest transactions.
  package var queuedOperations = 65_536
  /// Reader threads for records by key and the log, and as many again for lists. Reads are short and cached; two keep a
  /// slow one from holding up the others.
  package var readers = 2
  /// How much the threads that read lists give way to the process's others, in steps of `nice`: five, a
  /// third of the weight. On a busy processor a list that takes long then waits for writes, events and the loop, more
  /// than they for it.
  package var listNiceness = 5
  /// Short reads, and apart from them lists, that may wait for one reader; later ones are refused as overloaded.
  package var queuedReads = 1_024
  /// How long one read may take, waiting included, when it names no deadline of its own.
  package var readTime: Duration = .seconds(5)
  /// How long one snapshot of a reader lasts at most. A snapshot keeps the write-ahead log from starting over, and the
  /// writer from its checkpoint; lists are read in slices, so that none needs longer.
  package var snapshotTime: Duration = .seconds(1)
  /// Rows that one slice of a list looks at: about a millisecond.
  package var sliceRows = 512
  /// Short reads that one reader serves before a slice is due, so that lists make progress under any load.
  package var readsBetweenSlices = 16
  /// Lists that one reader reads in turn; later ones wait until one of them is finished.
  package var activeScans = 16
  /// How long a user's transaction closure may hold the writer.
  package var transactionTime: Duration = .milliseconds(500)
  /// Changes one transaction may make, those of relations with `onDelete` apart. Batches reach subscribers whole. A
  /// write of the tree is one change, however many paths it has.
  package var transactionChanges = 10_000
  /// Changes that relations with `onDelete` may add to one write: a few seconds of the writer, and so rare.
  package var cascadeChanges = 100_000
  /// Bytes of one record in the log, the size AppSync's users know with room to spare. An update takes up to as many
  /// again for the values it replaces.
  package var recordBytes = 1_048_576
  /// Bytes of one event of the application's own in the log.
  package var eventBytes = 1_048_576
  /// Bytes of one entry with a change of the tree: the largest text, 10 MiB, with its path. A larger change takes
  /// several entries.
  package var treeBytes = 11 * 1_048_576
  /// Bytes of one write that a client leaves for the end of its session: it is kept until then, and read whole.
  package var deferredBytes = 1_048_576
  /// Bytes of one definition: a rules file, with its name.
  package var definitionBytes = 1_048_576
  /// Bytes of one entry with a numbered write's outcome: 10,000 changed records with keys of 100 bytes. The outcome of
  /// a write with more changes takes several entries.
  package var outcomeBytes = 1_048_576
  /// Bytes of a refusal's message that resends get; the rest is cut off.
  package var refusalMessageBytes = 1_024
  /// Bytes of a schema change in the log, the schema's text included.
  package var schemaBytes = 16 * 1_048_576
  /// Age after which log entries may be forgotten: a weekend away and more.
  package var logAge: Duration = .seconds(7 * 86_400)
  /// Bytes of log entries that are kept at most.
  package var logBytes: Int64 = 1 << 30
  /// Expired rows of each kind that one group deletes at most, or twice what it wrote when that is more: about a
  /// millisecond of the writer.
  package var forgottenAtOnce = 512
  /// Bytes of log entries that one group deletes at most, or twice what it wrote: large entries cost by their pages.
  package var forgottenBytesAtOnce: Int64 = 4 * 1_048_576
  /// Children of the tree that one commit adds to a new index, or rows of a dropped one that it deletes: some
  /// milliseconds of the writer.
  package var indexedAtOnce = 512
  /// How long deletions are remembered, and clients that number their writes after their last one: what AppSync's
  /// tables keep by default. A client that was away for longer begins with a fresh copy.
  package var tombstoneAge: Duration = .seconds(30 * 86_400)
  /// Numbered writes of one client whose outcomes are kept because it has not acknowledged them; beyond it, new ones
  /// are refused as overloaded. A client waits for few answers at a time.
  package var unacknowledgedWrites: Int64 = 1_000
  /// Clients whose outcomes are kept; beyond it, those that wrote longest ago expire.
  package var writeClients: Int64 = 100_000
  /// Pages of write-ahead log after which a passive checkpoint runs between groups: 4 MiB.
  package var checkpointPages = 1_000
  /// How long a checkpoint waits for readers before the writer continues with the write-ahead log as it is; it tries
  /// again after `checkpointPages` more. Snapshots end after `snapshotTime`, so that one of the attempts succeeds.
  package var checkpointWait: Duration = .milliseconds(10)
  /// Pages of write-ahead log after which the writer waits for readers to let it start over: 256 MiB.
  package var largestLogPages = 65_536
  /// Rows of one page of a list at most, whatever the request says.
  package var pageRows = 1_000
  /// Rows that are looked at for one page of a list at most; beyond it the list is refused as `tooManyRows`, with the
  /// index that would find them.
  package var scannedRows = 100_000
  /// Values of one `in` of a list that an index is asked for one after the other; a longer list is decided row by row,
  /// which costs less than as many seeks in a table of common size.
  package var soughtValues = 64
  /// Rows of a model up to which a condition is tried on all of them to say how many records a sync will bring, some
  /// 20 ms; beyond it the number is not said.
  package var countedRows = 1_000_000
  /// Damaged places of the log that are reported, each once: a log with more is beyond single reports.
  package var reportedDamages = 256
  /// Pages that a backup copies between two groups, besides as many as these have added: half a millisecond of the
  /// writer.
  package var backupPages: Int32 = 64
  /// Bytes of recent batches kept in memory for members that catch up.
  package var ringBytes = 16 * 1_048_576
  /// Page cache of each connection in KiB.
  package var cacheKiB: Int32 = 16_384
  /// Lineage entries kept; older terms than that are gaps.
  package var terms = 1_000

  package init() {}

  /// Time between two calls of `Store.maintain`: a minute, or a quarter of a shorter retention, at least a second.
  package var maintenanceInterval: Duration { min(.seconds(60), max(.seconds(1), logAge / 4)) }
}

/// What the store reads as time: a monotonic clock for deadlines, the calendar for bookkeeping and retention.
package struct StoreClock: Sendable {
  /// The monotonic clock.
  package var now: @Sendable () -> Instant
  /// Milliseconds since 1970.
  package var milliseconds: @Sendable () -> Int64

  package init(now: @escaping @Sendable () -> Instant, milliseconds: @escaping @Sendable () -> Int64) {
    self.now = now
    self.milliseconds = milliseconds
  }
}
