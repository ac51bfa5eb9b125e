import MartletJSON
import MartletModels
import MartletSyncEngine
import MartletVocabulary

/// A client whose store is plain values: what they hold survives a kill, the engine does not.
struct SimulatedClient {
  /// What is on disk.
  struct Disk {
    var replicas: [RecordKey: RecordReplica] = [:]
    /// The record of each pending write, in order of the numbers.
    var outbox: [(number: Int64, key: RecordKey)] = []
    var progress = ModelProgress()
    var cursor: Int64?
    var letters: [DeadLetter] = []
    var nextNumber: Int64 = 1
    /// Rows that the pages of a full sync had.
    var seen: Set<RecordKey> = []
  }

  /// What a driver would send.
  enum Request: Hashable {
    case subscribe(generation: Int)
    case query(generation: Int, SyncKind, String?)
    case upload(generation: Int, RecordKey, PendingWrite)
  }

  let name: Int
  private(set) var disk = Disk()
  var engine: SyncEngine
  private(set) var requests: [Request] = []
  private(set) var wake: Instant?
  /// Writes that cancelled each other, or that the server never needed.
  private(set) var cancelled: Set<Int64> = []
  /// Writes that were added to the outbox, and those that a retry after a conflict has replaced.
  private(set) var added: Set<Int64> = []
  private(set) var replaced: Set<Int64> = []

  init(name: Int) {
    self.name = name
    engine = Self.engine(disk, name)
  }

  private static func engine(_ disk: Disk, _ name: Int) -> SyncEngine {
    SyncEngine(
      SyncConfiguration(models: [.init()]), progress: [disk.progress],
      pending: disk.outbox.map { ($0.number, 0) }, seed: UInt64(name))
  }

  /// The process is killed and starts again with what is on disk.
  mutating func restart(_ now: Instant) {
    engine = Self.engine(disk, name)
    requests = []
    wake = nil
    handle(.start, now)
  }

  mutating func takeRequests() -> [Request] {
    defer { requests = [] }
    return requests
  }

  // MARK: Local writes

  mutating func save(_ key: RecordKey, _ record: Record, _ now: Instant) {
    change(key, now) { replica, number throws(RecordReplica.WriteError) in
      try replica.save(record, number: number)
    }
  }

  mutating func delete(_ key: RecordKey, _ now: Instant) {
    change(key, now) { replica, number throws(RecordReplica.WriteError) in
      try replica.write(PendingWrite(number: number, content: .delete))
    }
  }

  private mutating func change(
    _ key: RecordKey, _ now: Instant,
    _ body: (inout RecordReplica, Int64) throws(RecordReplica.WriteError) -> RecordReplica.Enqueued?
  ) {
    var replica = disk.replicas[key] ?? RecordReplica()
    let number = disk.nextNumber
    guard let enqueued = try? body(&replica, number) else { return }
    disk.replicas[key] = replica
    disk.nextNumber += 1
    switch enqueued {
    case .added:
      added.insert(number)
      disk.outbox.append((number, key))
      handle(.outbox(.added(number: number, model: 0)), now)
    case .merged: break
    case .cancelled(let numbers):
      cancelled.formUnion(numbers)
      disk.outbox.removeAll { numbers.contains($0.number) }
      handle(.outbox(.removed(numbers)), now)
    }
  }

  // MARK: The driver

  mutating func handle(_ event: SyncEvent, _ now: Instant) {
    var events = [event]
    while !events.isEmpty {
      for action in engine.handle(events.removeFirst(), now: now, wall: now.nanoseconds / 1_000_000) {
        if let event = perform(action) { events.append(event) }
      }
    }
  }

  private mutating func perform(_ action: SyncAction) -> SyncEvent? {
    switch action {
    case .subscribe(let generation): requests.append(.subscribe(generation: generation))
    case .query(let generation, _, let kind, let token, _): requests.append(.query(generation: generation, kind, token))
    case .upload(let generation, let number):
      guard let key = key(of: number) else { return .outbox(.removed([number])) }
      disk.replicas[key]?.send(number)
      guard let write = disk.replicas[key]?.pending.first(where: { $0.number == number }) else { return nil }
      requests.append(.upload(generation: generation, key, write))
    case .applyPage(_, let changes):
      for change in changes { disk.seen.insert(change.key) }
      receive(changes)
    case .apply(let changes, let cursor):
      receive(changes)
      disk.cursor = cursor.flatMap { Int64($0) } ?? disk.cursor
    case .beginFullSync: disk.seen = []
    case .finishModel(_, let progress, let sweepBefore):
      disk.progress = progress
      guard let sweepBefore else { return nil }
      for key in disk.replicas.keys where !disk.seen.contains(key) { _ = disk.replicas[key]?.sweep(at: sweepBefore) }
    case .acknowledge(let number, let image):
      guard let key = key(of: number) else { return nil }
      disk.replicas[key]?.acknowledge(number, image)
      disk.outbox.removeAll { $0.number == number }
    case .reject(let number, let reason):
      guard let key = key(of: number) else { return nil }
      return bury(disk.replicas[key]?.reject(number, reason) ?? [], except: number)
    case .askConflict(let number, _):
      let resolution: RecordReplica.Resolution = number % 3 == 0 ? .applyRemote : .retryLocal
      let newNumber = disk.nextNumber
      disk.nextNumber += 1
      return .resolved(number: number, resolution, newNumber: newNumber)
    case .resolve(let number, let resolution, let image, let newNumber):
      guard let key = key(of: number) else { return nil }
      let letters = disk.replicas[key]?.resolve(number, resolution, image, newNumber: newNumber) ?? []
      let isRetried = disk.replicas[key]?.pending.contains { $0.number == newNumber } == true
      if isRetried {
        replaced.insert(number)
        added.insert(newNumber)
      } else if letters.isEmpty {
        cancelled.insert(number)
      }
      disk.outbox = disk.outbox.compactMap { entry in
        entry.number != number ? entry : isRetried ? (newNumber, key) : nil
      }
      disk.letters += letters
      let numbers = letters.map(\.write.number)
      disk.outbox.removeAll { numbers.contains($0.number) }
      return .settled(number: number, isRetried ? .retried(as: newNumber) : .refused)
    case .wake(let time): wake = time
    case .clearStore: disk = Disk()
    case .disconnect, .refreshCredentials, .progress, .abandon, .hub: break
    }
    return nil
  }

  private func key(of number: Int64) -> RecordKey? { disk.outbox.first { $0.number == number }?.key }

  private mutating func receive(_ changes: [RemoteChange]) {
    for change in changes { disk.replicas[change.key, default: RecordReplica()].receive(change.image) }
  }

  private mutating func bury(_ letters: [DeadLetter], except number: Int64) -> SyncEvent? {
    disk.letters += letters
    let numbers = letters.map(\.write.number)
    disk.outbox.removeAll { numbers.contains($0.number) }
    let others = numbers.filter { $0 != number }
    return others.isEmpty ? nil : .outbox(.removed(others))
  }

  mutating func fire(_ now: Instant) {
    guard let time = wake, time <= now else { return }
    wake = nil
    handle(.timer, now)
  }
}
