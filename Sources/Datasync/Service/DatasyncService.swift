internal import Martlet
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient

/// The synced tree of one application, over one WebSocket.
public final class DatasyncService: Sendable {
  let shared: ServiceShared
  private let bound: LoopBound<DatasyncDriver>?
  private let failure: DatasyncError?
  private let configuration: DatasyncConfiguration
  private let spawner: any Spawner
  private let pushKeys = Lock(PushKeyGenerator())
  private let calendar: @Sendable () -> Int64
  private let chance: Chance
  /// Requests for webhooks and push.
  private let door: ChannelDoor?

  static func make(_ configuration: DatasyncConfiguration, _ environment: ClientEnvironment?) -> DatasyncService {
    do throws(GraphQLClientError) {
      let home = try ClientEnvironment.home(environment, configuration.connection)
      let endpoint = try GraphQLEndpoint(configuration.url)
      do throws(DatasyncError) { return try DatasyncService(configuration, endpoint, home) } catch {
        return DatasyncService(failure: error)
      }
    } catch {
      return DatasyncService(failure: DatasyncError(.notConfigured, error.message))
    }
  }

  private init(
    _ configuration: DatasyncConfiguration, _ endpoint: GraphQLEndpoint, _ home: ClientEnvironment
  ) throws(DatasyncError) {
    self.configuration = configuration
    failure = nil
    shared = ServiceShared()
    (spawner, calendar, chance) = (home.spawner, home.calendar, home.chance)
    door = ChannelDoor(configuration, endpoint, home)
    bound = LoopBound(try DatasyncDriver(configuration, endpoint, home, shared), on: home.loop)
    if configuration.cacheMode != .none { onLoop { $0.restoreQueue() } }
  }

  init(failure: DatasyncError) {
    self.failure = failure
    bound = nil
    door = nil
    shared = ServiceShared()
    shared.move(to: .failed(reason: failure.description))
    configuration = DatasyncConfiguration(url: "")
    spawner = ConcurrentSpawner()
    (calendar, chance) = ({ 0 }, .system)
  }

  deinit { shutDown() }

  /// What the connection does.
  public var state: DatasyncState { shared.state }

  /// The state now and each change after it.
  public var states: AsyncStream<DatasyncState> { shared.states() }

  /// The server's clock minus this client's; nil before the first connection.
  public var serverTimeOffset: Duration? { shared.timeOffset }

  /// Whether the service connects. True at first; false closes the connection and works offline with what is known.
  public var isConnectionEnabled: Bool {
    get { shared.isEnabled }
    set {
      shared.setEnabled(newValue)
      onLoop { $0.connection.enable(newValue) }
    }
  }

  /// A manager, which owns the subscriptions of its nodes.
  ///
  /// - Parameter policy: what stays of the values of its subscriptions when they have
  ///   ended.
  public func createManager(
    defaultCompletedSubscriptionPolicy policy: DatasyncCompletedSubscriptionPolicy = .keepData
  ) -> DatasyncManager { DatasyncManager(self, policy) }

  /// Connects now, when a pause before the next attempt is under way: call it when the network has returned or the
  /// application is in front again.
  public func reconnect() { onLoop { $0.connection.reconnect() } }

  /// Closes the connection for good. Subscriptions are cancelled, and writes that were not answered fail with
  /// `shutDown`.
  public func shutDown() {
    shared.move(to: .shutDown)
    onLoop { $0.shutDown() }
  }

  /// The writes that the server has not answered, oldest first.
  public func queuedWrites() async throws -> [DatasyncQueuedWrite] {
    try await asking { driver, done in done(.success(driver.queuedWrites)) }
  }

  /// Writes the values that have changed since they were written last; for `manualSaving`.
  public func saveCache() { onLoop { $0.values.save() } }

  /// The values that are known here as the server last sent them, as a text: those of subscriptions, of nodes that are
  /// kept synced, and of the cache. Another start begins with it as `DatasyncCacheMode.initialized`. It has no writes,
  /// and what is revoked later stays in a text that was taken before.
  public func cache() async throws -> String {
    try await asking { driver, done in done(.success(driver.values.text)) }
  }

  /// Forgets the values of the cache, as if every completed subscription had had the policy `forgetData`. Running
  /// subscriptions keep theirs, and nodes that are kept synced stay so.
  public func cleanCache() { onLoop { $0.values.clean() } }

  /// Drops the writes that the server has not answered: listeners see the server's values again, and the writes fail
  /// with `purged`. One that is on its way may be made all the same.
  public func purgeQueue() { onLoop { $0.purge() } }

  // MARK: For nodes

  /// Makes a request for webhooks or push.
  func request(
    _ method: String, _ path: String, _ body: JSONObject? = nil
  ) async throws(DatasyncError) -> JSONValue {
    if let failure { throw failure }
    guard shared.state != .shutDown else { throw DatasyncError(.shutDown, "the service was shut down") }
    guard let door else { throw DatasyncError(.notConfigured, "the service has no server") }
    return try await door.send(method, path, body)
  }

  func onLoop(_ body: @escaping @Sendable (DatasyncDriver) -> Void) {
    guard let bound else { return }
    bound.loop.execute { body(bound.value) }
  }

  /// Runs `body` on the loop; what it passes to its second argument, once, is returned.
  private func asking<Value: Sendable>(
    _ body: @escaping @Sendable (DatasyncDriver, @escaping @Sendable (Result<Value, DatasyncError>) -> Void) -> Void
  ) async throws -> Value {
    if let failure { throw failure }
    return try await withCheckedThrowingContinuation { continuation in
      onLoop { driver in body(driver) { continuation.resume(with: $0.mapError { $0 as any Error }) } }
    }
  }

  func core(
    _ type: DatasyncEventType, _ path: TreePath, _ window: DatasyncWindow,
    _ acknowledgements: DatasyncAcknowledgements
  ) throws(DatasyncError) -> TreeSubscriptionCore {
    if let failure { throw failure }
    guard type.isComplete else {
      throw DatasyncError(.invalid, "\(path): acknowledgements come with changes and cannot be subscribed alone")
    }
    return TreeSubscriptionCore(
      shared.nextListener(), at: path, try window.checked(at: path), type, acknowledgements,
      limit: configuration.waitingEvents)
  }

  /// A core that may be one that cannot begin, and why.
  func anyCore(
    _ type: DatasyncEventType, _ path: TreePath, _ window: DatasyncWindow,
    _ acknowledgements: DatasyncAcknowledgements
  ) -> (TreeSubscriptionCore, DatasyncError?) {
    do throws(DatasyncError) { return (try core(type, path, window, acknowledgements), nil) } catch {
      return (TreeSubscriptionCore(shared.nextListener(), at: path, .all, type, acknowledgements, limit: 1), error)
    }
  }

  func listen(_ core: TreeSubscriptionCore) {
    // The loop is asked to end it, wherever it was ended.
    core.atEnd { [weak self] in self?.onLoop { $0.unlisten(core) } }
    onLoop { $0.listen(core) }
  }

  func deliver(_ delivery: TreeCallbackDelivery, _ core: TreeSubscriptionCore) {
    spawner.spawn { await delivery.run(core) }
  }

  func pushKey() -> TreeKey {
    let offset = shared.timeOffset.map { $0.wholeNanoseconds / 1_000_000 } ?? 0
    let milliseconds = calendar() + offset
    var generator: any RandomNumberGenerator = chance.fork()
    let seed = generator.next()
    return pushKeys.withLock { keys in
      var random = SeededRandom(seed: seed)
      return keys.next(milliseconds: milliseconds, chance: &random)
    }
  }

  /// - Throws: what the tree does not accept.
  func check(_ content: TreeClient.Content, _ path: TreePath) throws(DatasyncError) {
    do throws(TreeError) {
      let reader = TreeReader(serverValues: ServerValues(milliseconds: 0))
      switch content {
      case .put(let json): _ = try reader.read(json, at: path)
      case .merge(let object): _ = try reader.readMerge(object, at: path)
      }
    } catch { throw DatasyncError(error) }
  }

  func write(_ content: TreeClient.Content, _ path: TreePath) throws(DatasyncError) -> DatasyncWrite {
    if let failure { throw failure }
    guard shared.takeSlot(most: configuration.queuedWrites) else {
      throw DatasyncError(.overloaded, "\(configuration.queuedWrites) writes wait for the server (queuedWrites)")
    }
    let write = DatasyncWrite()
    onLoop { $0.write(content, path, write) }
    return write
  }

  private func refusing(_ body: (DatasyncWrite) -> Void) -> DatasyncWrite {
    let write = DatasyncWrite()
    if let failure { write.end(.failure(failure)) } else { body(write) }
    return write
  }

  func deferWrite(_ content: TreeClient.Content, _ path: TreePath, repeats: Bool) -> DatasyncWrite {
    refusing { write in onLoop { $0.deferWrite(content, path, repeats: repeats, grace: nil, write) } }
  }

  func cancelDeferred(_ path: TreePath) -> DatasyncWrite {
    refusing { write in onLoop { $0.cancelDeferred(path, write) } }
  }

  func transact(_ path: TreePath, _ update: @escaping @Sendable (DatasyncValue) -> JSONValue?) -> DatasyncWrite {
    refusing { write in onLoop { $0.transact(path, update, write) } }
  }

  func present(_ json: JSONValue, _ path: TreePath, _ grace: Duration) -> PresenceToken {
    let token = PresenceToken(number: shared.nextListener().number, removal: DatasyncWrite(), value: DatasyncWrite())
    if let failure {
      token.removal.end(.failure(failure))
    } else {
      onLoop { $0.present(json, path, grace, token) }
    }
    return token
  }

  func absent(_ token: PresenceToken, _ path: TreePath) { onLoop { $0.absent(token, path) } }

  func keepSynced(_ path: TreePath, _ window: Window, _ isKept: Bool) throws(DatasyncError) {
    if let failure { throw failure }
    let query = TreeClient.Query(path, window.isUnbounded ? .all : window)
    onLoop { isKept ? $0.values.follow(query, isPinned: true) : $0.values.release(query) }
  }

  func read(_ path: TreePath, _ window: Window) async throws -> DatasyncReading {
    try await asking { driver, done in driver.read(path, window, done) }
  }

  func known(_ path: TreePath, _ window: Window) async throws -> DatasyncReading {
    try await asking { driver, done in done(driver.known(path, window)) }
  }
}
