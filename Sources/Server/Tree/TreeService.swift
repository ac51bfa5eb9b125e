internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletVocabulary

/// The tree on one loop: its listeners, found by path, its reads and its writes.
///
/// Confined to its loop.
final class TreeService {
  let writing: TreeWriting
  let policy: TreePolicy
  let treeLimits: TreeLimits
  let limits: ServerLimits.Tree
  let loop: any Loop
  let calendar: Calendar
  private let access: AccessControl
  let store: Store
  let destination: FeedDestination
  /// What clients have left for the ends of their sessions; shared with the other loops.
  let leases: TreeLeases
  var leaseTimer: LoopTimer?
  /// Whether the loop looks for what is due when its turn is over.
  var isExpirySet = false
  private var index = ListenerIndex<ObjectIdentifier>()
  private var listeners: [ObjectIdentifier: TreeListener] = [:]
  /// Open sockets and streams, by the order in which they were opened.
  private var sessions: [Int: any LoopSession] = [:]
  private var lastSerial = 0
  private var lastListener = 0
  private(set) var pushKeys = PushKeyGenerator()
  private var taken = TakenChanges()
  private var lastRevision: (term: UInt64, offset: Int64, text: String) = (0, -1, "")
  let reads: TreeReads

  init(
    _ store: Store, _ policy: TreePolicy, _ leases: TreeLeases, on loop: any Loop, _ destination: FeedDestination,
    access: AccessControl, calendar: Calendar, limits: ServerLimits.Tree, log: Log,
    records: @escaping @Sendable () -> RecordTree? = { nil }
  ) {
    reads = TreeReads(
      store, policy, on: loop, destination, calendar: calendar, limits: limits, records: records)
    self.leases = leases
    self.store = store
    self.policy = policy
    self.loop = loop
    self.destination = destination
    self.calendar = calendar
    self.access = access
    self.limits = limits
    treeLimits = TreeLimits(limits)
    writing = TreeWriting(
      policy: policy, limits: treeLimits, access: access, log: log, hasRecords: { records() != nil })
  }

  // MARK: Sessions

  /// The sockets and streams, oldest first.
  var sessionsInOrder: [any LoopSession] { sessions.sorted { $0.key < $1.key }.map(\.value) }

  func nextSerial() -> Int {
    lastSerial += 1
    return lastSerial
  }

  func open(_ session: any LoopSession) { sessions[session.serial] = session }
  func close(_ session: any LoopSession) { sessions[session.serial] = nil }

  /// Whether what admitted a caller would still do so.
  func isGood(_ grant: AccessControl.Grant?) -> Bool { grant.map(access.isGood) ?? true }

  /// Whether callers without accepted credentials are admitted, to whom rules apply as to guests.
  var admitsGuests: Bool { access.isGood(.guest) || access.isGood(.program) }

  // MARK: Reading

  /// Reads a node, or a window of it, under the rules. `completion` runs on the loop.
  func read(
    _ path: TreePath, _ window: Window, as caller: TreeCaller, isShallow: Bool = false,
    _ completion: @escaping (Result<TreeReads.Found, TreeRefusal>) -> Void
  ) {
    reads.read(path, window, as: caller, isShallow: isShallow, completion)
  }

  /// The revision at `offset`, as clients see it. All sessions ask for the same one after a write.
  func revision(_ offset: Int64) -> String {
    let term = store.lineage.currentTerm
    if lastRevision.term == term, lastRevision.offset == offset { return lastRevision.text }
    lastRevision = (term, offset, Cursor(term: term, offset: offset).description)
    return lastRevision.text
  }

  /// Everything up to here has been shown to the listeners; nil before the first batch.
  var shownOffset: Int64? { taken.applied > 0 ? taken.applied : nil }

  var milliseconds: Int64 { calendar.sinceEpoch().milliseconds }

  // MARK: Writing

  /// Writes, and calls `completion` on the loop after the listeners of this loop have been shown the write.
  func write(
    _ request: TreeWriteRequest, as caller: TreeCaller,
    _ completion: @escaping (Result<TreeWritten, TreeRefusal>) -> Void
  ) {
    let done = LoopBound((self, completion), on: loop)
    writing.commit(request, as: caller, to: destination) { result in
      let (service, completion) = done.value
      guard let last = try? result.get().receipt.offsets?.upperBound else { return completion(result) }
      service.afterTaking(last) { completion(result) }
    }
  }

  /// Every batch after this offset reaches the service.
  func begins(after offset: Int64) { taken.begins(after: offset) }

  /// Runs `run` when the listeners of this loop have taken every change up to `offset`, at which the store stands.
  private func afterTaking(_ offset: Int64, _ run: @escaping () -> Void) {
    if taken.has(offset) { run() } else { taken.wait(for: offset, run) }
  }

  /// A key for a new child.
  func pushKey() -> TreeKey {
    var chance = calendar.chance()
    return pushKeys.next(milliseconds: milliseconds, chance: &chance)
  }

  // MARK: Listening

  /// How clients that know parts are shown large values.
  var parts: TreeParts { TreeParts(bytes: limits.partBytes, mostEarly: limits.resumeChanges) }

  /// Adds a listener and reads its first value.
  func add(_ listener: TreeListener) {
    insert(listener)
    refresh(listener)
  }

  /// Adds a listener whose first value is read later.
  func insert(_ listener: TreeListener) {
    let id = ObjectIdentifier(listener)
    lastListener += 1
    listener.serial = lastListener
    listeners[id] = listener
    index.insert(id, at: listener.path)
  }

  func remove(_ listener: TreeListener) {
    listener.stop()
    let id = ObjectIdentifier(listener)
    guard listeners.removeValue(forKey: id) != nil else { return }
    index.remove(id, at: listener.path)
  }

  /// Reads the listener's value and shows what is new of it.
  func refresh(_ listener: TreeListener) {
    guard !listener.isEnded, listener.beginReading() else { return }
    reads.read(
      listener.path, listener.window, as: listener.caller, resuming: listener.resumption, isListening: true,
      isWatching: listener.isWatch, part: listener.unreadPart
    ) { [self] result in
      switch result {
      // The changes that a part contains have been taken before the value may be called whole.
      case .success(let found) where listener.isPart(found):
        afterTaking(found.head) { [self] in received(found, for: listener) }
      case .success(let found): received(found, for: listener)
      case .failure(let refusal):
        remove(listener, ending: refusal)
        listener.afterRead()
      }
    }
  }

  private func received(_ found: TreeReads.Found, for listener: TreeListener) {
    if listener.received(found) { refresh(listener) }
    listener.afterRead()
  }

  private func remove(_ listener: TreeListener, ending refusal: TreeRefusal) {
    let id = ObjectIdentifier(listener)
    guard listeners.removeValue(forKey: id) != nil else { return }
    index.remove(id, at: listener.path)
    listener.end(refusal)
  }

  /// Judges every listener by the rules that are in force now; those that may no longer read are ended.
  func recheck() {
    for listener in listeners.values.inOrder { recheck(listener) }
  }

  /// Judges one listener by the present rules and its present caller.
  func recheck(_ listener: TreeListener) {
    reads.judge(listener.path, listener.window, as: listener.caller) { [self] refusal in
      switch refusal {
      case .denied?, .forbidden?, .unauthenticated?: if let refusal { remove(listener, ending: refusal) }
      case .invalid?, .repeated?, .stale?, .store?, .unknownNamespace?, nil: return
      }
    }
  }

  /// Another schema is in force: listeners to records are shown them by its rules.
  func recheckRecords() {
    for listener in listeners.values.inOrder where RecordTree.contains(listener.path) { callerChanged(listener) }
  }

  /// Judges a listener for its present caller; of records it is shown those that this caller sees.
  func callerChanged(_ listener: TreeListener) {
    guard RecordTree.contains(listener.path), reads.records() != nil else { return recheck(listener) }
    listener.renew()
    refresh(listener)
  }

  /// Ends a listener whose node has become too large. Leaves that were overwritten count twice until the node is
  /// counted again, which an eighth more of them than the limit asks for.
  private func measure(_ listener: TreeListener) {
    let most = limits.nodeLeaves
    guard listener.leaves > most + most / 8, !listener.isMeasured, !listener.isEnded, !listener.isWatch else { return }
    listener.isMeasured = true
    read(listener.path, .all, as: .administrator) { [self] result in
      listener.isMeasured = false
      switch result {
      case .success(let found): listener.counted(found.node.rowCount)
      case .failure(.store(let error)) where error.code == .invalid: remove(listener, ending: .store(error))
      case .failure: return
      }
    }
  }

  /// Whether the rules declare an index for a window's order. A window in an order without one reads the whole node,
  /// of which clients warn their developers.
  func hasIndex(_ path: TreePath, _ window: Window) -> Bool {
    switch window.order {
    case .key, .priority: true
    case .child, .value: window.isUnbounded || policy.rules.indexes(at: path).contains(window.order)
    }
  }

  // MARK: Changes

  /// Shows the changes of one group commit, transaction by transaction.
  func apply(_ batch: ChangeBatch) {
    var transaction: [TreeChange] = []
    for change in batch.changes {
      if let tree = change.tree { transaction.append(tree) }
      if change.endsTransaction, !transaction.isEmpty {
        show(transaction, at: change.offset)
        transaction = []
      }
    }
    if !transaction.isEmpty { show(transaction, at: batch.lastOffset) }
    RecordShowing(service: self).apply(batch)
    for run in taken.take(batch.lastOffset) { run() }
  }

  private func show(_ changes: [TreeChange], at offset: Int64) {
    for (ids, writes) in index.concerned(by: changes) {
      let shared = SharedChanges(writes, at: offset)
      for id in ids {
        if let listener = listeners[id] { take(shared, for: listener, at: offset) }
      }
    }
  }

  /// Shows a listener the changes of one transaction, or what they make of its window.
  func take(_ changes: SharedChanges, for listener: TreeListener, at offset: Int64) {
    guard listener.window.isUnbounded else { return refresh(listener) }
    listener.take(changes, at: offset)
    measure(listener)
  }

  /// Whether some listener's path begins with `key`.
  func isListenedTo(_ key: TreeKey) -> Bool { index.hasListeners(below: key) }

  /// Calls `body` with each listener that a write at `path` concerns.
  func forEachListener(
    concernedBy path: TreePath, _ body: (TreeListener, ListenerIndex<ObjectIdentifier>.Relation) -> Void
  ) {
    index.forEach(concernedBy: path) { id, relation in
      if let listener = listeners[id] { body(listener, relation) }
    }
  }
}
