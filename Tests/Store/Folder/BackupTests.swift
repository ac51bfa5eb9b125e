import Foundation
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import Testing

/// A backup ends under any load, holds up no write, and is complete or not there.
struct BackupTests {
  private func create(_ id: String) -> WriteOperation { .create(model: Models.flight, record: Models.flight(id)) }

  @Test func `a backup ends while every step meets a write, and has all that was written before its end`() throws {
    let log = StoreFormat.databaseName + "-wal"
    var limits = StoreLimits()
    limits.backupPages = 4
    limits.checkpointPages = 20
    let fixture = try StoreFixture(limits: limits)
    for batch in 0..<20 { try fixture.commit(.batch((0..<200).map { create("\(batch)-\($0)") })) }
    let copy = MemoryFiles()
    let box = Box<Void>()
    fixture.store.backup(to: .memory(copy)) { result in box.value.withLock { $0 = result } }
    var steps = 0
    var largest = 0
    let written = Lock(0)
    while box.value.withLock({ $0 }) == nil {
      steps += 1
      try #require(steps < 2_000)
      fixture.store.commit(WriteRequest(create("during-\(steps)"))) { result in
        #expect(result.errorCode == nil)
        written.withLock { $0 += 1 }
      }
      fixture.writer.runOnce()
      // The writer does not wait for the copy.
      #expect(written.withLock { $0 } >= steps - 1)
      largest = max(largest, fixture.files.contents(of: log)?.count ?? 0)
    }
    try box.value.withLock { $0 }?.get()
    #expect(steps > 20)
    // Pages move from the write-ahead log into the file meanwhile, which a reader's transaction would prevent.
    #expect(largest < 100 * 4_096, "\(largest) in \(steps) steps")
    let restored = try StoreFixture(files: copy, term: 2)
    #expect(restored.store.position.head >= 4_000 + Int64(steps) - 2)
    #expect(try restored.get(Models.flight, .string("during-\(steps - 2)")) != nil)
    #expect(try restored.get(Models.flight, "19-199")?.version == 1)
    try restored.commit(create("after"))
    // The store that was copied continues as before.
    fixture.writer.run()
    #expect(fixture.failures.list.withLock { $0 }.isEmpty)
    #expect(try fixture.get(Models.flight, .string("during-\(steps)")) != nil)
  }

  @Test func `a backup ends while each group adds more pages than a step copies`() throws {
    var limits = StoreLimits()
    limits.backupPages = 4
    let fixture = try StoreFixture(limits: limits)
    for batch in 0..<5 { try fixture.commit(.batch((0..<200).map { create("\(batch)-\($0)") })) }
    let large = JSONValue.string(String(repeating: "x", count: 3_000))
    func group(_ number: Int) -> WriteRequest {
      let records = (0..<20).map { index in
        var record = Models.flight("during-\(number)-\(index)")
        record.values[3] = large
        return WriteOperation.create(model: Models.flight, record: record)
      }
      return WriteRequest(.batch(records))
    }
    let copy = MemoryFiles()
    let box = Box<Void>()
    fixture.store.backup(to: .memory(copy)) { result in box.value.withLock { $0 = result } }
    var steps = 0
    while box.value.withLock({ $0 }) == nil {
      steps += 1
      try #require(steps < 400)
      fixture.store.commit(group(steps)) { result in #expect(result.errorCode == nil) }
      fixture.writer.runOnce()
    }
    try box.value.withLock { $0 }?.get()
    #expect(steps > 10)
    let restored = try StoreFixture(files: copy, term: 2)
    #expect(try restored.get(Models.flight, .string("during-\(steps - 2)-19"))?.record[3] == large)
  }

  @Test func `a group that is rolled back during a backup is not in the copy`() throws {
    var limits = StoreLimits()
    limits.backupPages = 1
    limits.cacheKiB = 64
    let fixture = try StoreFixture(limits: limits)
    for batch in 0..<5 { try fixture.commit(.batch((0..<200).map { create("\(batch)-\($0)") })) }
    let copy = MemoryFiles()
    let box = Box<Void>()
    fixture.store.backup(to: .memory(copy)) { result in box.value.withLock { $0 = result } }
    for _ in 0..<10 { fixture.writer.runOnce() }
    // Large enough to leave the page cache before it is refused by its last operation.
    let refused = WriteOperation.batch((0..<3_000).map { create("refused-\($0)") } + [create("0-0")])
    fixture.store.commit(WriteRequest(refused)) { result in #expect(result.errorCode == .alreadyExists) }
    fixture.writer.run()
    try #require(box.value.withLock { $0 }).get()
    let restored = try StoreFixture(files: copy, term: 2)
    #expect(try restored.get(Models.flight, "refused-0") == nil)
    #expect(restored.store.position.head == StoreFixture.opening + 1_001)
  }

  @Test func `a backup that is no longer wanted stops, and so does one of a store that closes`() throws {
    var limits = StoreLimits()
    limits.backupPages = 1
    let fixture = try StoreFixture(limits: limits)
    try fixture.commit(.batch((0..<200).map { create("\($0)") }))
    let box = Box<Void>()
    let isWanted = Lock(true)
    fixture.store.backup(to: .emptyMemory, isWanted: { isWanted.withLock { $0 } }) { result in
      box.value.withLock { $0 = result }
    }
    fixture.writer.runOnce()
    isWanted.withLock { $0 = false }
    fixture.writer.runOnce()
    #expect(box.value.withLock { $0 }?.errorCode == .closed)
    let closing = Box<Void>()
    fixture.store.backup(to: .emptyMemory) { result in closing.value.withLock { $0 = result } }
    fixture.writer.runOnce()
    fixture.store.close()
    #expect(closing.value.withLock { $0 }?.errorCode == .closed)
  }

  // MARK: Folders

  private func open(_ path: String, term: UInt64 = 1, creating: Bool = false) throws -> Store {
    var options = StoreOptions(term: term, clock: ManualClock().clock)
    options.allowsCreating = creating
    return try Store(.folder(path), shapes: Models.all, options: options)
  }

  private func commit(_ store: Store, _ id: String) async -> Result<Receipt, StoreError> {
    await withCheckedContinuation { done in
      store.commit(WriteRequest(create(id))) { done.resume(returning: $0) }
    }
  }

  @Test func `a folder that is in use is copied by its owner, and appears complete or not at all`() async throws {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    for number in 0..<50 { _ = await commit(store, "\(number)") }
    let target = folder.path + "-copy"
    defer { try? FileManager.default.removeItem(atPath: target) }
    try FolderBackup.copy(folder.path, to: target) {
      #expect(!FileManager.default.fileExists(atPath: target))
      store.serveBackupRequest()
      usleep(1_000)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["store.sqlite"])
    #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
    let copy = try open(target, term: 2)
    #expect(copy.position.head == StoreFixture.opening + 51)
    copy.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("BACKUP") }
    #expect(files.isEmpty)
    store.close()
  }

  @Test func `a server that does not begin is given up after as many looks as were asked for`() throws {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    var pauses = 0
    let error = #expect(throws: StoreError.self) {
      try FolderBackup.copy(folder.path, to: folder.path + "-copy", looks: 7) { pauses += 1 }
    }
    #expect(error?.message.contains("does not answer requests for a backup") == true && pauses == 8)
    store.close()
  }

  @Test func `a folder that no process uses is copied, a full one is not written over, and a failure leaves nothing`()
    async throws
  {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    _ = await commit(store, "a")
    store.close()
    let target = folder.path + "-copy"
    defer { try? FileManager.default.removeItem(atPath: target) }
    try FolderBackup.copy(folder.path, to: target + "/") {}
    let again = #expect(throws: StoreError.self) { try FolderBackup.copy(folder.path, to: target) {} }
    #expect(again?.code == .alreadyExists)
    let missing = #expect(throws: StoreError.self) {
      try FolderBackup.copy(folder.path + "-none", to: target + "2") {}
    }
    #expect(missing?.code == .notFound)
    let held = try open(folder.path, term: 2)
    struct GivenUp: Error {}
    #expect(throws: StoreError.self) { try FolderBackup.copy(folder.path, to: target + "3") { throw GivenUp() } }
    held.close()
    for name in ["2", "3", "3.partial"] { #expect(!FileManager.default.fileExists(atPath: target + name)) }
  }

  @Test func `a copy that is served is not said to have lost its write-ahead log, which it never had`() async throws {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    _ = await commit(store, "a")
    let (inUse, atRest) = (folder.path + "-in-use", folder.path + "-at-rest")
    defer { for copy in [inUse, atRest] { try? FileManager.default.removeItem(atPath: copy) } }
    try FolderBackup.copy(folder.path, to: inUse) {
      store.serveBackupRequest()
      usleep(1_000)
    }
    store.close()
    try FolderBackup.copy(folder.path, to: atRest) {}
    for copy in [inUse, atRest] {
      let warnings = Lock<[String]>([])
      var options = StoreOptions(term: 2, clock: ManualClock().clock)
      options.onWarning = { text in warnings.withLock { $0.append(text) } }
      let served = try Store(.folder(copy), shapes: Models.all, options: options)
      #expect(warnings.withLock { $0 } == [])
      #expect(await commit(served, "b").errorCode == nil)
      served.close()
    }
  }

  @Test func `an abandoned request for a backup is removed`() async throws {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    let request = folder.path + "/BACKUP"
    try Data("/nowhere\n".utf8).write(to: URL(fileURLWithPath: request))
    store.serveBackupRequest()
    _ = await commit(store, "a")
    #expect(!FileManager.default.fileExists(atPath: request))
    store.close()
  }

  @Test func `a folder with other files and no store is refused, unless a new store may be made there`() throws {
    let folder = FolderTests.Temporary()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/store.sqlite-wal"))
    let error = #expect(throws: StoreError.self) { try open(folder.path) }
    #expect(error?.code == .noStore)
    #expect(error?.message.contains("store.sqlite-wal") == true)
    try FileManager.default.removeItem(atPath: folder.path + "/store.sqlite-wal")
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
    #expect(throws: StoreError.self) { try open(folder.path) }
    try open(folder.path, creating: true).close()
    try open(folder.path, term: 2).close()
  }

  @Test func `half a copy of a store is refused`() async throws {
    let folder = FolderTests.Temporary()
    let store = try open(folder.path)
    for number in 0..<200 { _ = await commit(store, "\(number)") }
    store.close()
    let target = folder.path + "-copy"
    defer { try? FileManager.default.removeItem(atPath: target) }
    try FolderBackup.copy(folder.path, to: target) {}
    let file = target + "/store.sqlite"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: file))
    let error = #expect(throws: StoreError.self) { try open(target, term: 2) }
    #expect(error?.code == .noStore)
  }

  @Test func `data files deleted under an open store are noticed by the next group`() async throws {
    let folder = FolderTests.Temporary()
    let troubles = Lock<[StoreError?]>([])
    var options = StoreOptions(term: 1, clock: ManualClock().clock)
    options.onTrouble = { trouble in troubles.withLock { $0.append(trouble) } }
    let store = try Store(.folder(folder.path), shapes: Models.all, options: options)
    #expect(await commit(store, "a").errorCode == nil)
    for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
      try? FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    for id in ["b", "c"] { #expect(await commit(store, id).errorCode == .filesGone) }
    #expect(troubles.withLock { $0.map { $0?.code } } == [.filesGone])
    #expect(store.trouble?.code == .filesGone)
    store.close()
  }
}
