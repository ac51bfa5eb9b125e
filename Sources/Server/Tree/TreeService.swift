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
  private(set) var pushKeys = PushKeyGenerator()
  /// Acknowledgements that wait until the batch of their write has been shown.
  private var waiting: [(offset: Int64, run: () -> Void)] = []
  private var applied: Int64 = 0

  init(
    _ store: Store, _ policy: TreePolicy, _ leases: TreeLeases, on loop: any Loop, _ destination: FeedDestination,
    access: AccessControl, calendar: Calendar, limits: ServerLimits.Tree
  ) {
    self.leases = leases
    self.store = store
    self.policy = policy
    self.loop = loop
    self.destination = destination
    self.calendar = calendar
    self.access = access
    self.limits = limits
    treeLimits = TreeLimits(limits)
    writing = TreeWriting(policy: policy, limits: treeLimits)
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

  // MARK: Reading

  /// What a read found, and the newest offset that it contains.
  struct Found: Sendable {
    var node: TreeNode
    var head: Int64
    /// What has changed since the client's revision, when all of it is known; the node is then left out of a read of a
    /// whole node.
    var changes: [TreeWrite]?
    /// Why the log does not say what has changed since the client's revision.
    var gap: String?
    /// Leaves that the node may have when it was left out.
    var leaves = 0
  }

  /// Reads a node, or a window of it, under the rules. `completion` runs on the loop.
  ///
  /// - Parameter resumption: what the client has of it.
  func read(
    _ path: TreePath, _ window: Window, as caller: TreeCaller, resuming resumption: TreeResumption? = nil,
    _ completion: @escaping (Result<Found, TreeRefusal>) -> Void
  ) {
    let done = LoopBound(completion, on: loop)
    let (rules, now, most) = (policy.rules, milliseconds, limits.nodeLeaves)
    let replay = resumption.map { TreeReplay($0, path, window, store.lineage, changes: limits.resumeChanges) }
    store.read(
      [
        ReadRequest(
          read: { snapshot throws(StoreError) -> Result<Found, TreeRefusal> in
            if !caller.isAdministrator {
              let query = window.isUnbounded ? nil : window
              let context = RuleContext(
                auth: caller.auth, now: now, query: query, data: StoredTree(tree: snapshot.tree))
              do {
                if case .denied(let denial) = try rules.read(at: path, context) { return .failure(.denied(denial)) }
              } catch {
                throw (error as? StoreError) ?? StoreError(.failed, "\(error)")
              }
            }
            let head = try snapshot.head()
            var (written, gap): (WriteTrie?, String?) = (nil, nil)
            switch try replay?.answer(in: snapshot, head: head) {
            case .written(let trie): written = trie
            case .gap(let reason): gap = reason
            case .replaced, nil: break
            }
            if let written, window.isUnbounded {
              // The node was not looked at: it counts as half full.
              return .success(Found(node: .empty, head: head, changes: written.writes, leaves: most / 2))
            }
            let node = try snapshot.tree.node(at: path, in: window, limit: most)
            return .success(
              Found(node: node, head: head, changes: written.flatMap { replay?.changes(of: node, $0) }, gap: gap))
          },
          completion: { result in
            switch result {
            case .success(let found): done.value(found)
            case .failure(let error): done.value(.failure(.store(error)))
            }
          })
      ], to: destination)
  }

  /// The revision at `offset`, as clients see it.
  func revision(_ offset: Int64) -> String { Cursor(term: store.lineage.currentTerm, offset: offset).description }

  /// Everything up to here has been shown to the listeners; nil before the first batch.
  var shownOffset: Int64? { applied > 0 ? applied : nil }

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
      service.afterShowing(last) { completion(result) }
    }
  }

  private func afterShowing(_ offset: Int64, _ run: @escaping () -> Void) {
    if offset <= applied { return run() }
    waiting.append((offset, run))
  }

  /// A key for a new child.
  func pushKey() -> TreeKey {
    var chance = calendar.chance()
    return pushKeys.next(milliseconds: milliseconds, chance: &chance)
  }

  // MARK: Listening

  /// Adds a listener and reads its first value.
  func add(_ listener: TreeListener) {
    let id = ObjectIdentifier(listener)
    listeners[id] = listener
    index.insert(id, at: listener.path)
    refresh(listener)
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
    read(listener.path, listener.window, as: listener.caller, resuming: listener.resumption) { [self] result in
      switch result {
      case .success(let found): if listener.received(found) { refresh(listener) }
      case .failure(let refusal): remove(listener, ending: refusal)
      }
      listener.afterRead()
    }
  }

  private func remove(_ listener: TreeListener, ending refusal: TreeRefusal) {
    let id = ObjectIdentifier(listener)
    guard listeners.removeValue(forKey: id) != nil else { return }
    index.remove(id, at: listener.path)
    listener.end(refusal)
  }

  /// Judges every listener by the rules that are in force now; those that may no longer read are ended.
  func recheck() {
    for listener in listeners.values { recheck(listener) }
  }

  /// Judges one listener by the present rules and its present caller.
  func recheck(_ listener: TreeListener) {
    read(listener.path, Window(limit: .first(1)), as: listener.caller) { [self] result in
      if case .failure(.denied(let denial)) = result { remove(listener, ending: .denied(denial)) }
    }
  }

  /// Ends a listener whose node has become too large. Leaves that were overwritten count twice until the node is
  /// counted again, which an eighth more of them than the limit asks for.
  private func measure(_ listener: TreeListener) {
    let most = limits.nodeLeaves
    guard listener.leaves > most + most / 8, !listener.isMeasured, !listener.isEnded else { return }
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
    applied = batch.lastOffset
    let due = waiting.prefix { $0.offset <= applied }
    waiting.removeFirst(due.count)
    for entry in due { entry.run() }
  }

  private func show(_ changes: [TreeChange], at offset: Int64) {
    var concerned: [(id: ObjectIdentifier, changes: [TreeWrite])] = []
    var places: [ObjectIdentifier: Int] = [:]
    for change in changes {
      // The priority of a node concerns its listeners and those above.
      let path = change.path.key?.isPriority == true ? change.path.parent ?? .root : change.path
      index.forEach(concernedBy: path) { id, relation in
        let place = places[id] ?? concerned.count
        if place == concerned.count {
          concerned.append((id, []))
          places[id] = place
        }
        switch relation {
        case .below(let relative):
          let isPriority = change.path.key?.isPriority == true
          concerned[place].changes.append(
            TreeWrite(path: isPriority ? relative.child(.priority) : relative, node: change.node))
        case .covering(let below):
          guard change.path.key?.isPriority != true else {
            // Of the node itself; nodes below it are not concerned.
            if below.isRoot { concerned[place].changes.append(TreeWrite(path: [.priority], node: change.node)) }
            return
          }
          concerned[place].changes.append(TreeWrite(path: .root, node: change.node.node(at: below)))
        }
      }
    }
    for (id, changes) in concerned where !changes.isEmpty {
      guard let listener = listeners[id] else { continue }
      guard listener.window.isUnbounded else {
        refresh(listener)
        continue
      }
      listener.take(changes, at: offset)
      measure(listener)
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
