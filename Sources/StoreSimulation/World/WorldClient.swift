internal import MartletDataStore
internal import MartletGraphQLClient
internal import MartletSimulation
internal import MartletVocabulary

/// A device: a disk, a clock, a caller, and one process of the application after the other. What the application does
/// is in `Application`.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump, or before it runs.
final class WorldClient: @unchecked Sendable {
  /// A process of the application.
  ///
  /// `@unchecked Sendable` holds because it is touched only inside the executor's pump.
  final class Process: @unchecked Sendable {
    let number: Int
    /// Nil once it has ended, so that nothing keeps what the process had.
    private(set) var store: DataStore?
    let transport: WorldTransport
    private(set) var isDead = false
    var streams: [() -> Void] = []

    init(_ number: Int, _ store: DataStore, _ transport: WorldTransport) {
      self.number = number
      self.store = store
      self.transport = transport
    }

    func end() {
      isDead = true
      transport.die()
      for end in streams { end() }
      streams = []
      store = nil
    }
  }

  /// Changes of the feed that may wait for a sync: few, so that stories meet the bound.
  static let heldChanges = 1

  let index: Int
  let name: String
  unowned let world: World
  private let loop: SimulatedLoop
  private var disk = WorldDisk()
  private(set) var process: Process?
  private var starts = 0
  private var draws: UInt64 = 0
  /// The power fails when the process ends at the armed access.
  private var losesPower = false
  var isPartitioned = false
  /// Nothing that the server sends arrives.
  var isDeaf = false
  /// Milliseconds that the calendar clock is wrong by.
  var skew: Int64 = 0
  /// Whether the next process is the later version of the application.
  var isLater = false
  /// Whether the present process is.
  private(set) var runsLater = false
  /// The sync has ended, and only the application starts it again.
  private(set) var isTerminated = false

  init(_ world: World, _ index: Int) {
    self.world = world
    self.index = index
    name = "client\(index)"
    loop = world.executor.makeLoop(name)
  }

  var milliseconds: Int64 { 1_700_000_000_000 + world.executor.now.nanoseconds / 1_000_000 + skew }

  func isAlive(_ process: Process) -> Bool { !process.isDead && !world.isOver }

  // MARK: Processes

  /// Starts the application on what is on the disk.
  func start() {
    guard process == nil else { return }
    starts += 1
    isTerminated = false
    runsLater = isLater
    let number = starts
    let transport = WorldTransport(world, self)
    do {
      let store = try DataStore(
        models: runsLater ? [Account.self, Later.Note.self] : [Account.self, Note.self], storage: .inMemory,
        sync: DataStoreSync(transport, configuration: configuration), on: surroundings(number))
      let process = Process(number, store, transport)
      self.process = process
      world.record("\(name) starts as \(number)")
      world.checks.started(self)
      if runsLater {
        Application<Later.Note>(self, process).run()
      } else {
        Application<Note>(self, process).run()
      }
    } catch {
      world.checks.fail(.failure, "\(name) cannot be opened: \(error)")
    }
  }

  private func surroundings(_ number: Int) -> StoreSurroundings {
    let executor = world.executor
    let loop = loop
    var surroundings = StoreSurroundings(
      thread: { [weak self] in ClientLane(loop) { self?.look(number) } }, timer: { ClientTimer(loop) },
      spawner: executor.spawner, now: { executor.now }, milliseconds: { [weak self] in self?.milliseconds ?? 0 },
      chance: { [weak self] in self?.drawn() ?? SeededRandom(seed: 0) })
    surroundings.files = disk.files
    surroundings.heldChanges = Self.heldChanges
    // Checkpoints happen within a story.
    surroundings.checkpointPages = 40
    return surroundings
  }

  /// A source of chance that differs from all before.
  private func drawn() -> SeededRandom {
    draws += 1
    return SeededRandom(seed: world.seed &* 1_000 &+ UInt64(index) &* 100 &+ draws &* 7_919)
  }

  private var configuration: DataStoreConfiguration {
    var configuration = DataStoreConfiguration()
    configuration.syncPageSize = 3
    configuration.snapshotInterval = .milliseconds(200)
    configuration.syncInterval = .seconds(40)
    configuration.longestRetryDelay = .seconds(4)
    configuration.conflictHandler = { [weak self] conflict in self?.resolve(conflict) ?? .applyRemote }
    return configuration
  }

  /// What the application does about a conflict follows from the record and the attempt.
  private func resolve(_ conflict: DataStoreConflict) -> DataStoreConflictResolution {
    world.count("conflict")
    let choice = conflict.attempt > 3 ? 0 : (conflict.modelId.utf8.reduce(0) { $0 + Int($1) } + conflict.attempt) % 3
    guard choice > 0 else { return .applyRemote }
    if choice == 2, conflict.modelName == "Note" {
      var local: (any WorldNote)?
      if runsLater {
        local = try? conflict.local(as: Later.Note.self)
      } else {
        local = try? conflict.local(as: Note.self)
      }
      if let local {
        world.count("conflict retried with another record")
        world.checks.repeated.insert(local.title)
        return .retry(local)
      }
    }
    world.count("conflict retried")
    return .retryLocal
  }

  // MARK: Ends

  /// The process ends at one of its next accesses to the disk.
  func arm(_ accesses: Int, losesPower: Bool) {
    disk.arm(accesses)
    self.losesPower = losesPower
  }

  func disarm() { disk.disarm() }

  private func look(_ number: Int) {
    guard let process, process.number == number else { return }
    guard disk.isFatal else { return world.checks.worked(self) }
    die(losesPower: losesPower)
    let pause = Int64(100 + world.diskChance.next() % 4_000)
    world.network.wait(.milliseconds(pause)) { [weak self] in
      guard let self, !world.isOver else { return }
      start()
    }
  }

  private func die(losesPower: Bool) {
    world.count("client crash at \(disk.crashPoint)\(losesPower ? ", power lost" : "")")
    let left = disk.remains(&world.diskChance, losesPower: losesPower)
    endProcess()
    disk = WorldDisk(left)
  }

  private func endProcess() {
    guard let process else { return }
    self.process = nil
    process.end()
    world.record("\(name) ends")
  }

  /// The story is over.
  func end() { endProcess() }

  // MARK: The sync

  func cut() { process?.transport.cut() }

  /// The sync has ended, and the application starts it again after a while.
  func noteTerminated() {
    isTerminated = true
    world.network.wait(.seconds(1)) { [weak self] in
      guard let self, isTerminated, !world.isOver else { return }
      world.spawn { [self] in await reconnect() }
    }
  }

  /// The application starts the sync, if it has ended, and says that the network is there.
  func reconnect() async {
    isTerminated = false
    guard let store = process?.store else { return }
    try? await store.start()
    try? await store.networkIsReachable()
  }

  /// Whether the store has everything and the server has everything.
  var isQuiet: Bool {
    guard let process, let store = process.store else { return false }
    return store.syncStatus.isSettled && process.transport.isQuiet
  }
}
