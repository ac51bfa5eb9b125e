internal import MartletJSON
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletVocabulary

/// The trees beside the first one: declared by name, each with a store, a log, rules and write numbers of its own.
/// From any thread.
///
/// A store is opened with the first request for its namespace, on the thread on which all of them write. Nothing is
/// atomic over two namespaces.
package final class TreeNamespaces: Sendable {
  /// What a store is opened with.
  struct Ground: Sendable {
    /// The folder of the first store; nil keeps everything in memory.
    var folder: String?
    /// For each namespace, with its share of the memory.
    var options: StoreOptions
    var limits: ServerLimits.Tree
    var term: @Sendable () -> UInt64
    var log: Log
  }

  private struct Threads {
    var writer: StoreThread
    var reader: StoreThread
  }

  private struct State {
    var spaces: [String: TreeNamespace] = [:]
    var threads: Threads?
    var isClosed = false
  }

  private let ground: Ground
  /// The name of the first tree; nil lets every name stand for it while there is no other tree.
  private let firstName: String?
  private let state = Lock(State())

  init(_ ground: Ground, firstName: String?) {
    self.ground = ground
    self.firstName = firstName
  }

  /// For a server with one tree, or none.
  static func none(_ limits: ServerLimits.Tree) -> TreeNamespaces {
    let clock = StoreClock(now: { .zero }, milliseconds: { 0 })
    let threadless = SharedExecutor(nil)
    let options = StoreOptions(term: 0, clock: clock, writer: threadless, readers: [threadless])
    return TreeNamespaces(
      Ground(folder: nil, options: options, limits: limits, term: { 0 }, log: .silent), firstName: nil)
  }

  // MARK: Names

  /// What a request's `ns` names.
  enum Found {
    case first
    case space(TreeNamespace)
    case unknown
  }

  func find(_ name: String?) -> Found {
    guard let name else { return .first }
    if let firstName, firstName.hasSameBytes(as: name) { return .first }
    return state.withLock { state in
      if let space = state.spaces[name], space.name.hasSameBytes(as: name) { return .space(space) }
      return firstName == nil && state.spaces.isEmpty ? .first : .unknown
    }
  }

  var all: [TreeNamespace] {
    state.withLock { $0.spaces.values.sorted { $0.name < $1.name } }
  }

  /// Adds a namespace, or gives a known one other rules.
  ///
  /// - Throws: `ServerError` (`treeRules`) for a name that cannot be one, and beyond the limit.
  func declare(_ name: String, _ rules: RuleSet) throws(ServerError) {
    try check(name)
    state.withLock { state in
      if let known = state.spaces[name] { return known.policy.replace(rules) }
      state.spaces[name] = TreeNamespace(name, TreePolicy(rules), ground.limits)
    }
  }

  /// Refuses what cannot be declared.
  func check(_ name: String) throws(ServerError) {
    try Self.check(name)
    guard firstName.map({ $0.hasSameBytes(as: name) }) != true else {
      throw ServerError(.treeRules, "The namespace \"\(name)\" is the first tree's own name.")
    }
    let memory = NamespaceMemory(ground.limits)
    guard state.withLock({ $0.spaces[name] == nil && $0.spaces.count >= memory.most }) else { return }
    throw ServerError(
      .treeRules,
      memory.most < ground.limits.namespaces
        ? """
        The namespace \"\(name)\" is one more than the \(memory.most) that the limit tree.namespaceBytes \
        (\(ground.limits.namespaceBytes)) holds: each takes \(NamespaceMemory.smallestShare) bytes at least.
        """
        : "The namespace \"\(name)\" is one more than the limit tree.namespaces (\(memory.most)).")
  }

  /// Refuses what cannot be a folder's name everywhere.
  private static func check(_ name: String) throws(ServerError) {
    let isAllowed = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isAllowed, (1...64).contains(name.utf8.count) else {
      throw ServerError(
        .treeRules, "\"\(name)\" is not the name of a namespace: 1 to 64 letters, digits, \"-\" and \"_\".")
    }
  }

  // MARK: Stores

  /// Calls `completion` with the namespace's store, which is opened if need be; on any thread.
  func open(
    _ space: TreeNamespace, _ completion: @escaping @Sendable (Result<Store, StoreError>) -> Void
  ) {
    switch space.ask(completion) {
    case .answered, .waiting: return
    case .opens: break
    }
    guard let threads = startThreads() else {
      return space.opened(.failure(StoreError(.closed, "the server is being stopped")))
    }
    threads.writer.execute { [self] in space.opened(make(space, threads)) }
  }

  /// The threads of the stores, which begin with the first use; nil when the server is being stopped.
  private func startThreads() -> Threads? {
    state.withLock { state -> Threads? in
      if state.isClosed { return nil }
      let threads = state.threads ?? Threads(writer: StoreThread(), reader: StoreThread())
      state.threads = threads
      return threads
    }
  }

  /// Calls `completion` with the name of each namespace whose store is not open and has writes that clients of an
  /// earlier process have left; on any thread.
  func findLeftWrites(_ completion: @escaping @Sendable (String) -> Void) {
    guard let folder = ground.folder else { return }
    let closed = all.filter { $0.openStore == nil }
    if closed.isEmpty { return }
    startThreads()?.writer.execute {
      for space in closed where space.openStore == nil && DeferredWrite.areLeft(in: Self.folder(space, folder)) {
        completion(space.name)
      }
    }
  }

  private static func folder(_ space: TreeNamespace, _ folder: String) -> String {
    folder + "/" + StoreFormat.namespacePrefix + space.name
  }

  private func make(_ space: TreeNamespace, _ threads: Threads) -> Result<Store, StoreError> {
    let memory = NamespaceMemory(ground.limits)
    var options = ground.options
    options.term = ground.term()
    options.writer = SharedExecutor(threads.writer)
    options.readers = [SharedExecutor(threads.reader)]
    options.limits.cacheKiB = memory.cacheKiB
    options.limits.ringBytes = memory.ringBytes
    options.schemaName = "tree"
    options.allowsCreating = true
    let place: StorePlace =
      ground.folder.map { .folder(Self.folder(space, $0)) } ?? space.memory
    do throws(StoreError) {
      let store = try Store(place, shapes: [], options: options)
      space.policy.opened(store)
      return .success(store)
    } catch {
      ground.log.write(
        .error, "The store of a namespace cannot be opened.", [(.reason, "\(space.name): \(error.description)")])
      return .failure(error)
    }
  }

  /// The stores that are open now.
  var openStores: [Store] { all.compactMap(\.openStore) }

  /// Closes every store and ends their threads. Not from one of them.
  func close() {
    let threads = state.withLock { state in
      state.isClosed = true
      defer { state.threads = nil }
      return state.threads
    }
    for store in openStores { store.close() }
    threads?.writer.stop()
    threads?.reader.stop()
  }
}

/// One tree beside the first. From any thread.
final class TreeNamespace: Sendable {
  private enum Stage {
    case closed
    case opening([@Sendable (Result<Store, StoreError>) -> Void])
    case open(Store)
  }

  enum Asked { case answered, waiting, opens }

  let name: String
  let policy: TreePolicy
  let leases: TreeLeases
  /// The disk of a server that keeps everything in memory.
  let memory = StorePlace.emptyMemory
  private let stage = Lock(Stage.closed)
  private let isRecovered = Lock(false)

  init(_ name: String, _ policy: TreePolicy, _ limits: ServerLimits.Tree) {
    self.name = name
    self.policy = policy
    leases = TreeLeases(step: limits.leaseStep, most: limits.expiriesAtOnce)
  }

  /// True once: for the loop that has to wait for the clients of an earlier process.
  var recovers: Bool {
    isRecovered.withLock { done in
      defer { done = true }
      return !done
    }
  }

  var openStore: Store? {
    stage.withLock { stage in
      if case .open(let store) = stage { return store }
      return nil
    }
  }

  fileprivate func ask(_ completion: @escaping @Sendable (Result<Store, StoreError>) -> Void) -> Asked {
    let (asked, store) = stage.withLock { stage -> (Asked, Store?) in
      switch stage {
      case .open(let store): return (.answered, store)
      case .opening(let waiting):
        stage = .opening(waiting + [completion])
        return (.waiting, nil)
      case .closed:
        stage = .opening([completion])
        return (.opens, nil)
      }
    }
    if let store { completion(.success(store)) }
    return asked
  }

  /// The store is open, or cannot be: the next request tries again then.
  fileprivate func opened(_ result: Result<Store, StoreError>) {
    let waiting = stage.withLock { stage in
      defer { stage = (try? result.get()).map { .open($0) } ?? .closed }
      if case .opening(let waiting) = stage { return waiting }
      return []
    }
    for completion in waiting { completion(result) }
  }
}
