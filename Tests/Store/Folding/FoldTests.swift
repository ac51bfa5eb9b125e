import Foundation
import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// A store is the fold of its log: a second store that is fed the groups alone answers as the first one does.
struct FoldTests {
  /// More with MARTLET_FOLD_SEEDS.
  static let seeds = UInt64(ProcessInfo.processInfo.environment["MARTLET_FOLD_SEEDS"] ?? "") ?? 6

  @Test(arguments: 1...seeds)
  func `a store fed the groups of another, cut and restarted anywhere, gives the same answers`(seed: UInt64) throws {
    var history = try History(seed: seed)
    // A run that never reached one of these would prove little.
    let wanted: Set = [
      "cut", "repeat", "migration", "restart", "horizon", "refusals", "set back", "slices", "end between slices",
      "end before its rows",
    ]
    var steps = 0
    while steps < 70 || steps < 2_000 && !history.reached.isSuperset(of: wanted) {
      try history.step()
      steps += 1
    }
    #expect(history.reached.isSuperset(of: wanted))
    try history.feed()
    try history.compare()
    try history.comparePromoted()
  }

  /// An authority, a follower, and what happens to them.
  struct History {
    var writes: RandomWrites
    let clock = ManualClock(1_000_000_000)
    let limits: StoreLimits
    var version = 0
    var term: UInt64 = 1
    var authority: StoreFixture
    var follower: Follower
    var reached: Set<String> = []
    private var newest: Int64 = 1_000_000_000

    init(seed: UInt64) throws {
      writes = RandomWrites(seed: seed)
      var limits = StoreLimits()
      limits.logBytes = 2_500
      limits.logAge = .seconds(300)
      limits.tombstoneAge = .seconds(400)
      limits.unacknowledgedWrites = 6
      limits.forgottenAtOnce = 10
      limits.writeClients = 3
      limits.treeBytes = 90
      limits.smallWrite = 4
      limits.wholeWrite = 4
      limits.stagedRows = 2
      self.limits = limits
      authority = try StoreFixture(clock: clock, shapes: RandomWrites.shapes(0), dropping: true, limits: limits)
      follower = try Follower(files: MemoryFiles(), shapes: RandomWrites.shapes(0), limits: limits)
    }

    // MARK: Steps

    mutating func step() throws {
      let shapes = RandomWrites.shapes(version)
      switch writes.count(17) {
      case 0: clock.advance(Int64(writes.count(200_000)))
      case 1: setBack()
      case 2:
        authority.store.maintain()
        authority.writer.run()
      case 3: try restart(migrating: writes.chance(2))
      case 4, 5: try feed()
      case 6:
        try feed()
        try compare()
      case 7 where writes.chance(2):
        try feed()
        try comparePromoted()
      case 8: try refuse()
      case 9: try commitInSlices(shapes)
      default:
        let before = authority.store.position
        try authority.commit((0..<(1 + writes.count(6))).map { _ in writes.request(shapes) })
        if authority.store.position.firstRetained > before.firstRetained { reached.insert("horizon") }
      }
    }

    mutating func setBack() {
      clock.advance(-Int64(1 + writes.count(100_000)))
      reached.insert("set back")
    }

    /// A group that holds a refusal and nothing else.
    mutating func refuse() throws {
      let before = authority.store.position.head
      let results = try authority.commit([writes.refusal()])
      if results.allSatisfy({ $0.errorCode != nil }), authority.store.position.head > before {
        reached.insert("refusals")
      }
    }

    /// A large write, made in slices between other writes; reads, or the end of the process, before it is whole.
    private mutating func commitInSlices(_ shapes: [RecordShape]) throws {
      let outcome = Lock<StoreError.Code??>(nil)
      authority.store.commit(WriteRequest(authority.store.drafted(writes.creations(shapes)))) { result in
        outcome.withLock { $0 = .some(result.errorCode) }
      }
      for _ in 0..<writes.count(10) {
        switch writes.count(5) {
        case 0: authority.store.commit(writes.request(shapes)) { _ in }
        case 1: clock.advance(Int64(writes.count(9)) - 4)
        case 2:
          try feed()
          try compare()
        default: break
        }
        authority.writer.runOnce()
      }
      let endsWaiting = writes.chance(3)
      if endsWaiting {
        // To the group itself, so that its entries wait for their rows.
        for _ in 0..<40 where outcome.withLock({ $0 == nil }) { authority.writer.runOnce() }
        if writes.chance(2) { authority.writer.runOnce() }
      }
      if endsWaiting || writes.chance(3) {
        if outcome.withLock({ $0 == nil }) { reached.insert("end between slices") }
        if try authority.isWaitingForRows { reached.insert("end before its rows") }
        return try restart(migrating: writes.chance(2))
      }
      authority.writer.run()
      #expect(outcome.withLock { $0 != nil })
      if outcome.withLock({ $0 == .some(nil) }) { reached.insert("slices") }
    }

    private mutating func restart(migrating: Bool) throws {
      term += 1
      if migrating {
        version = writes.count(5)
        reached.insert("migration")
      }
      authority = try StoreFixture(
        files: authority.files, clock: clock, shapes: RandomWrites.shapes(version), term: term, dropping: true,
        limits: limits)
    }

    mutating func reopenFollower(_ files: MemoryFiles) throws {
      follower = try Follower(files: files, shapes: RandomWrites.shapes(version), limits: limits)
      reached.insert("restart")
    }

    // MARK: Feeding

    /// Brings the follower to the authority's head.
    mutating func feed() throws {
      while follower.store.position.head < authority.store.position.head {
        let head = follower.store.position.head
        let size = 1 + writes.count(4_000)
        let range = try authority.read { snapshot throws(StoreError) in try snapshot.groups(after: head, bytes: size) }
        guard case .groups(let groups) = range else {
          // What follows has expired: it restarts with a copy.
          reached.insert("copy")
          try reopenFollower(MemoryFiles(authority.files.contents))
          continue
        }
        for group in groups { try fold(group) }
      }
    }

    private mutating func fold(_ group: LogGroup) throws {
      let bytes = group.bytes
      let before = follower.store.position
      if writes.chance(3) {
        reached.insert("cut")
        let part = Array(bytes.prefix(writes.count(bytes.count)))
        #expect(try follower.fold(part).errorCode == .damaged)
        if writes.chance(2) { try reopenFollower(follower.files) }
        #expect(follower.store.position == before)
      }
      if writes.chance(6) {
        var damaged = bytes
        damaged[1 + writes.count(bytes.count - 1)] ^= 1 << UInt8(writes.count(8))
        #expect(try follower.fold(damaged).errorCode != nil)
        #expect(follower.store.position == before)
      }
      #expect(try follower.fold(bytes).get().head == group.last)
      #expect(follower.store.position.checksum == group.checksumAfter)
      if writes.chance(6) {
        reached.insert("repeat")
        #expect(try follower.fold(bytes).get().head == group.last)
      }
    }

    // MARK: Comparing

    /// Both give the same answers to reads and resumptions.
    mutating func compare() throws {
      #expect(try differences() == [])
    }

    /// What the follower answers otherwise than the authority.
    mutating func differences() throws -> [String] {
      // A follower of an older schema of its own is opened with the new one.
      try reopenFollower(follower.files)
      var found: [String] = []
      if follower.store.position != authority.store.position { found.append("\(follower.store.position)") }
      if follower.store.lineage != authority.store.lineage { found.append("\(follower.store.lineage)") }
      let head = authority.store.position.head
      let offsets = (0..<8).map { _ in Int64(writes.count(Int(head) + 2)) }
      let wanted = try authority.read { snapshot throws(StoreError) in
        try Answers.reads(snapshot, models: 3, after: offsets)
      }
      let given = try follower.read { snapshot throws(StoreError) in
        try Answers.reads(snapshot, models: 3, after: offsets)
      }
      if given != wanted { found += zip(given, wanted).filter(!=).map { "\($0), not \($1)" } + ["other answers"] }
      return found
    }

    /// Copies of both become authorities and get the same resends and new writes: the same results, and the same logs.
    mutating func comparePromoted() throws {
      #expect(try promotedDifferences() == [])
    }

    mutating func promotedDifferences() throws -> [String] {
      let shapes = RandomWrites.shapes(version)
      var requests = writes.numbered.suffix(40).map { request in
        var request = request
        request.isResend = true
        return request
      }
      for _ in 0..<30 { requests.append(writes.request(shapes)) }
      // Keys that were deleted continue their versions.
      for shape in shapes {
        for _ in 0..<4 {
          let key = RecordKey(values: shape.key.map { writes.value(shape.columns[$0], isKey: true) })
          requests.append(WriteRequest(.create(model: shape.model, record: writes.record(shape, key))))
        }
      }
      let stores = try [authority.files, follower.files].map { files in
        try StoreFixture(
          files: MemoryFiles(files.contents), clock: ManualClock(clock.now), shapes: shapes, term: 999, dropping: true,
          limits: limits)
      }
      let results = try stores.map { try $0.commit(requests).map(Answers.describe) }
      var found = zip(results[0], results[1]).filter(!=).map { "\($1), not \($0)" }
      if stores[0].store.position != stores[1].store.position { found.append("\(stores[1].store.position)") }
      return found
    }
  }

  @Test func `a follower that lags up to the horizon continues, also after what expired before it is deleted`() throws {
    var limits = StoreLimits()
    limits.logAge = .seconds(3)
    let authority = try StoreFixture(limits: limits)
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    func feed() throws {
      let head = follower.store.position.head
      let range = try authority.read { snapshot throws(StoreError) in try snapshot.groups(after: head) }
      guard case .groups(let groups) = range else {
        Issue.record("the log has a gap after offset \(head)")
        return
      }
      for group in groups { #expect(try follower.fold(group.bytes).errorCode == nil) }
    }
    for id in ["a", "b", "c"] { try authority.commit(.create(model: Models.flight, record: Models.flight(id))) }
    try feed()
    let head = follower.store.position.head
    authority.clock.advance(10_000)
    try authority.commit(.create(model: Models.flight, record: Models.flight("d")))
    authority.store.maintain()
    authority.writer.run()
    #expect(authority.store.position.firstRetained == head + 1)
    #expect(try authority.rows("martlet_log") == authority.store.position.head - head + 1)
    try feed()
    #expect(follower.store.position == authority.store.position)
    // Folders that an earlier version has swept lack the entry before the first one.
    try Database(path: StoreFormat.databaseName, on: authority.files).execute(
      "DELETE FROM martlet_log WHERE offset = \(head)")
    #expect(try authority.read { snapshot throws(StoreError) in try snapshot.groups(after: head) } == .gap)
  }

  @Test func `a group that does not continue the log is refused and changes nothing`() throws {
    let first = try StoreFixture(term: 1)
    let other = try StoreFixture(term: 2)
    try first.commit(.event(topic: "t", payload: 1))
    try other.commit(.event(topic: "t", payload: 2))
    func groups(_ fixture: StoreFixture) throws -> [LogGroup] {
      guard
        case .groups(let groups) = try fixture.read({ snapshot throws(StoreError) in try snapshot.groups(after: 0) })
      else { return [] }
      return groups
    }
    let (mine, others) = (try groups(first), try groups(other))
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    #expect(try follower.fold(mine[1].bytes).errorCode == .diverged)
    #expect(try follower.fold(mine[0].bytes).errorCode == nil)
    #expect(try follower.fold(others[0].bytes).errorCode == .diverged)
    #expect(try follower.fold(others[1].bytes).errorCode == .diverged)
    #expect(follower.store.position.head == mine[0].last)
    #expect(try follower.fold(mine[1].bytes).errorCode == nil)
    #expect(follower.store.position.checksum == first.store.position.checksum)
  }

  @Test func `groups after each offset continue the log there, also from the last entry that has expired`() throws {
    var limits = StoreLimits()
    limits.logBytes = 400
    let fixture = try StoreFixture(limits: limits)
    var checksums: [Int64: UInt64] = [0: try firstChecksum(fixture)]
    var edges = 0
    for number in 0..<60 {
      checksums[fixture.store.position.head] = fixture.store.position.checksum
      try fixture.commit(.event(topic: "t", payload: .int(Int64(number))))
      checksums[fixture.store.position.head] = fixture.store.position.checksum
      if number.isMultiple(of: 3) {
        fixture.store.maintain()
        fixture.writer.run()
      }
      for offset in 0...fixture.store.position.head {
        let range = try fixture.read { snapshot throws(StoreError) in try snapshot.groups(after: offset) }
        switch range {
        case .gap: #expect(offset < fixture.store.position.firstRetained - 1)
        case .groups(let groups):
          // No follower stops at an offset inside a group.
          guard let group = groups.first, let checksum = checksums[offset] else { continue }
          #expect(group.checksumBefore == checksum, "after \(offset)")
          if offset > 0, offset == fixture.store.position.firstRetained - 1 { edges += 1 }
        }
      }
    }
    #expect(edges > 0)
  }

  private func firstChecksum(_ fixture: StoreFixture) throws -> UInt64 {
    guard case .groups(let groups) = try fixture.read({ snapshot throws(StoreError) in try snapshot.groups(after: 0) })
    else { return 0 }
    return groups.first?.checksumBefore ?? 0
  }

  @Test func `a follower takes no writes, and reads only once the schema's models have come`() throws {
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    let error = #expect(throws: StoreError.self) {
      try follower.read { snapshot throws(StoreError) in try snapshot.head() }
    }
    #expect(error?.code == .migration)
    let box = Box<Receipt>()
    follower.store.commit(WriteRequest(.event(topic: "t", payload: 1))) { result in box.value.withLock { $0 = result } }
    follower.store.close()
    #expect(box.value.withLock { $0?.errorCode } == .notAuthority)
  }

  @Test func `a folder of format 1 gets tombstones, checksums and defaults, and its groups can be folded`() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/format-1/store.sqlite")
    let original = MemoryFiles([StoreFormat.databaseName: Array(try Data(contentsOf: source))])
    let fixture = try StoreFixture(files: MemoryFiles(original.contents), term: 99)
    #expect(try fixture.rows("martlet_tombstones") == 1)
    // The entries are the bytes that the first version wrote.
    func entries(_ database: Database) throws -> [[UInt8]] {
      let rows = try database.prepare("SELECT entry FROM martlet_log ORDER BY offset")
      var entries: [[UInt8]] = []
      while try rows.step() { entries.append(rows.bytes(0)) }
      return entries
    }
    let old = try entries(Database(path: StoreFormat.databaseName, on: original))
    #expect(try entries(Database(path: StoreFormat.databaseName, on: fixture.files)).starts(with: old))
    #expect(old.count == 6 && old.allSatisfy { $0.first == 1 })
    #expect(try fixture.commit(.create(model: Models.flight, record: Models.flight("b"))).records.map(\.version) == [3])
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.groups(after: 0) }
    guard case .groups(let groups) = range else {
      Issue.record("the log has a gap")
      return
    }
    #expect(groups.last?.checksumAfter == fixture.store.position.checksum)
    for (group, next) in zip(groups, groups.dropFirst()) {
      #expect(group.checksumAfter == next.checksumBefore && group.last + 1 == next.first)
      #expect(try LogGroup(bytes: group.bytes) == group)
    }
  }
}
