internal import MartletRuntime
internal import MartletSQLite
internal import MartletVocabulary

/// One reader: a connection of its own on an executor of its own, and the reads that wait for it.
///
/// In production lists have readers of their own, whose threads give way to all others (`StoreOptions.listReaders`). A
/// reader of both serves short reads (records by key, the log) first, in order. Lists are read in slices, in turn: a
/// slice looks at `StoreLimits.sliceRows` rows and then the list waits for its next turn, holding no snapshot. So a
/// short read waits for one slice at most, and a short list for one slice of each longer one. A slice is due after
/// `StoreLimits.readsBetweenSlices` short reads, so that lists make progress under any load.
final class StoreReader: Sendable {
  /// Which reads a reader takes.
  enum Kind {
    case all
    case short
    case lists
  }

  struct Work: Sendable {
    /// Reads that share a snapshot, or one list.
    var requests: [ReadRequest]
    var destination: any StoreDestination
    var deadline: Instant
    var isScan: Bool
  }

  /// What the reader has done so far.
  struct Counts: Sendable, Equatable {
    /// Lists of short reads.
    var reads = 0
    var slices = 0
    /// Rows that SQLite returned.
    var rows = 0
  }

  private struct Queue {
    var reads: [Work] = []
    /// Lists that have not begun.
    var scans: [Work] = []
    /// Lists that have begun.
    var active = 0
    var isDraining = false
    var counts = Counts()
  }

  /// A list that has begun. Confined to the executor.
  private struct Scan {
    let work: Work
    let request: ReadRequest
    let step: ReadRequest.Step
  }

  private final class Active {
    var scans: [Scan] = []
  }

  private let kind: Kind
  private let executor: any StoreExecutor
  private let snapshot: Confined<ReadSnapshot>
  private let active = Confined(Active())
  private let clock: StoreClock
  private let limits: StoreLimits
  private let queue = Lock(Queue())

  init(_ kind: Kind, _ snapshot: ReadSnapshot, executor: any StoreExecutor, clock: StoreClock, limits: StoreLimits) {
    self.kind = kind
    self.snapshot = Confined(snapshot)
    self.executor = executor
    self.clock = clock
    self.limits = limits
    // What opening has read is not a read.
    queue.withLock { $0.counts.rows = snapshot.readRows }
  }

  /// Opens a reader of a store for each executor; all of them report to `damages`.
  static func open(
    _ place: StorePlace, _ shapes: [RecordShape], _ options: StoreOptions, _ damages: LogDamages,
    _ stagings: Lock<Stagings>
  ) throws(SQLiteError) -> [StoreReader] {
    var readers: [StoreReader] = []
    let short = options.readers.map { (options.listReaders.isEmpty ? Kind.all : .short, $0) }
    for (kind, executor) in short + options.listReaders.map({ (Kind.lists, $0) }) {
      var settings = Database.Options()
      settings.isReadOnly = true
      settings.cacheKiB = options.limits.cacheKiB
      let database = try Database(path: place.databasePath, on: place.files, options: settings)
      let snapshot = try ReadSnapshot(database, shapes, limits: options.limits, damages, stagings)
      // Reads the catalogue now and not with the first request. A follower's may not fit yet; its reads will say so.
      try? snapshot.transaction {}
      readers.append(StoreReader(kind, snapshot, executor: executor, clock: options.clock, limits: options.limits))
    }
    return readers
  }

  /// Whether it takes lists, or reads that are none.
  private func takes(lists: Bool) -> Bool { kind == .all || lists == (kind == .lists) }

  private var waiting: Int { queue.withLock { $0.reads.count + $0.scans.count + $0.active } }
  var counts: Counts { queue.withLock { $0.counts } }

  /// Reads by other models, after the reads that run now. `completion` runs on the reader's executor.
  func adopt(_ shapes: [RecordShape], _ completion: @escaping @Sendable () -> Void) {
    executor.execute { [snapshot] in
      snapshot.value.adopt(shapes)
      completion()
    }
  }

  /// Takes a list of reads; false when too many wait.
  func submit(_ work: Work) -> Bool {
    let starts: Bool? = queue.withLock { queue in
      // Apart, so that waiting lists refuse no short read.
      guard (work.isScan ? queue.scans.count : queue.reads.count) < limits.queuedReads else { return nil }
      if work.isScan { queue.scans.append(work) } else { queue.reads.append(work) }
      defer { queue.isDraining = true }
      return !queue.isDraining
    }
    guard let starts else { return false }
    if starts { executor.execute { [self] in drain() } }
    return true
  }

  func stop() { executor.stop() }

  // MARK: Serving

  /// Serves some short reads and one slice, then asks for its next turn.
  private func drain() {
    for _ in 0..<limits.readsBetweenSlices {
      let next: Work? = queue.withLock { queue in
        guard !queue.reads.isEmpty else { return nil }
        queue.counts.reads += 1
        return queue.reads.removeFirst()
      }
      guard let next else { break }
      run(next)
    }
    beginScans()
    if !active.value.scans.isEmpty { runSlice() }
    let rows = snapshot.value.readRows
    let goesOn = queue.withLock { queue in
      queue.counts.rows = rows
      queue.active = active.value.scans.count
      queue.isDraining = !queue.reads.isEmpty || !queue.scans.isEmpty || queue.active > 0
      return queue.isDraining
    }
    if goesOn { executor.execute { [self] in drain() } }
  }

  /// Begins waiting lists while there is room beside those that have begun.
  private func beginScans() {
    let room = limits.activeScans - active.value.scans.count
    guard room > 0 else { return }
    let begun = queue.withLock { queue in
      let begun = Array(queue.scans.prefix(room))
      queue.scans.removeFirst(begun.count)
      return begun
    }
    for work in begun {
      for request in work.requests {
        active.value.scans.append(Scan(work: work, request: request, step: request.begin()))
      }
    }
  }

  private func runSlice() {
    let scan = active.value.scans.removeFirst()
    queue.withLock { $0.counts.slices += 1 }
    var completion: (@Sendable () -> Void)?
    do throws(StoreError) {
      try snapshot.value.transaction {
        completion = perform(scan.request, scan.step, scan.work.deadline)
      }
    } catch {
      completion = completion ?? scan.step(.failure(error), limits.sliceRows)
    }
    guard let completion else { return active.value.scans.append(scan) }
    scan.work.destination.deliver(StoreDelivery(batch: nil, completions: [completion]))
  }

  private func run(_ work: Work) {
    var completions: [@Sendable () -> Void] = []
    completions.reserveCapacity(work.requests.count)
    let steps = work.requests.map { $0.begin() }
    do throws(StoreError) {
      try snapshot.value.transaction {
        for (request, step) in zip(work.requests, steps) {
          completions.append(perform(request, step, work.deadline) ?? {})
        }
      }
    } catch {
      // What has its answer keeps it; the others fail.
      for step in steps.dropFirst(completions.count) { completions.append(step(.failure(error), 0) ?? {}) }
    }
    work.destination.deliver(StoreDelivery(batch: nil, completions: completions))
  }

  private func perform(
    _ request: ReadRequest, _ step: ReadRequest.Step, _ latest: Instant
  ) -> (@Sendable () -> Void)? {
    let now = clock.now
    let begun = now()
    let deadline = request.deadline.map { min($0, latest) } ?? latest
    guard begun <= deadline else {
      return step(.failure(StoreError(.deadline, "the read was not finished before its deadline")), 0)
    }
    let end = min(deadline, begun + limits.snapshotTime)
    return snapshot.value.withDeadline({ now() > end }) {
      step(.success(snapshot.value), limits.sliceRows)
    }
  }
}

extension StoreReader {
  /// Gives requests to the readers of their kind that have the least to do: the short ones together, each list by
  /// itself. What none takes is answered with `refusal`.
  static func dispatch(
    _ requests: [ReadRequest], among readers: [StoreReader], until deadline: Instant,
    _ destination: any StoreDestination,
    refusal: () -> StoreError
  ) {
    let short = requests.filter { !$0.isScan }
    let lists = (short.isEmpty ? [] : [short]) + requests.filter(\.isScan).map { [$0] }
    for list in lists {
      let work = Work(
        requests: list, destination: destination, deadline: deadline, isScan: list.contains(where: \.isScan))
      let takers = readers.lazy.filter { $0.takes(lists: work.isScan) }
      if let reader = takers.min(by: { $0.waiting < $1.waiting }), reader.submit(work) { continue }
      let error = refusal()
      destination.deliver(
        StoreDelivery(batch: nil, completions: list.map { $0.begin()(.failure(error), 0) ?? {} }))
    }
  }
}

/// Carries a value that belongs to one executor through code that must be `Sendable`.
///
/// `@unchecked Sendable` holds because the owner touches the value only in work it gave to that executor, which runs
/// one piece of work at a time.
struct Confined<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
