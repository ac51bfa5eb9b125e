import Foundation
import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

@Suite struct FolderTests {
  /// A folder of the machine's that goes away with the test.
  final class Temporary {
    let path = NSTemporaryDirectory() + "martlet-store-" + UUID().uuidString
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private func open(_ path: String, term: UInt64 = 1) throws -> Store {
    try Store(.folder(path), shapes: Models.all, options: StoreOptions(term: term, clock: ManualClock().clock))
  }

  @Test func `with threads of its own the store acknowledges what a restart finds`() async throws {
    let folder = Temporary()
    do {
      let store = try open(folder.path)
      let recorder = Recorder()
      store.register(recorder)
      await withTaskGroup(of: Void.self) { group in
        for client in 0..<4 {
          group.addTask {
            for number in 0..<50 {
              await withCheckedContinuation { done in
                let record = Models.flight("\(client).\(number)")
                store.commit(WriteRequest(.create(model: Models.flight, record: record)), to: recorder) { result in
                  #expect(result.errorCode == nil)
                  done.resume()
                }
              }
            }
          }
        }
      }
      #expect(recorder.changes.map(\.offset) == Array(3...202))
      let count = await withCheckedContinuation { done in
        let request = ReadRequest(
          read: { snapshot throws(StoreError) in
            try snapshot.list(ListQuery(model: Models.flight, limit: 1_000)).records.count
          }, completion: { done.resume(returning: $0) })
        store.read([request], to: recorder)
      }
      #expect(try count.get() == 200)
      store.close()
    }
    let store = try open(folder.path, term: 2)
    #expect(store.position.head == 203)
    store.close()
  }

  @Test func `a folder has one process at a time`() throws {
    let folder = Temporary()
    let store = try open(folder.path)
    let error = try #require(throws: StoreError.self) { try open(folder.path) }
    #expect(error.code == .locked)
    store.close()
    try open(folder.path, term: 2).close()
  }

  @Test func `after closing everything is refused by type`() throws {
    let folder = Temporary()
    // The folder goes with its last use, which would be before the store is closed.
    defer { withExtendedLifetime(folder) {} }
    let store = try open(folder.path)
    store.close()
    let code = Lock<[StoreError.Code?]>([])
    store.commit(WriteRequest(.event(topic: "t", payload: nil))) { result in
      code.withLock { $0.append(result.errorCode) }
    }
    store.read(
      [
        ReadRequest(read: { snapshot throws(StoreError) in try snapshot.head() }) { result in
          code.withLock { $0.append(result.errorCode) }
        }
      ], to: DirectDestination())
    #expect(code.withLock { $0 } == [.closed, .closed])
  }

  @Test func `a newer format and another program's database are refused`() throws {
    let files = try StoreFixture().files
    try Database(path: StoreFormat.databaseName, on: files).execute("PRAGMA user_version = \(StoreFormat.newest + 1)")
    #expect(try #require(throws: StoreError.self) { try StoreFixture(files: files) }.code == .newerFormat)
    let other = MemoryFiles()
    try Database(path: StoreFormat.databaseName, on: other).execute("CREATE TABLE t(n)")
    let error = try #require(throws: StoreError.self) { try StoreFixture(files: other) }
    #expect(error.message.contains("not one of Martlet's"))
    let garbage = MemoryFiles([StoreFormat.databaseName: Array(repeating: 65, count: 8_192)])
    #expect(throws: StoreError.self) { try StoreFixture(files: garbage) }
  }

  @Test func `reads past their deadline are answered by type`() throws {
    let fixture = try StoreFixture()
    let code = Lock<[StoreError.Code?]>([])
    let late = ReadRequest(
      deadline: Instant(nanoseconds: 1), read: { snapshot throws(StoreError) in try snapshot.head() },
      completion: { result in code.withLock { $0.append(result.errorCode) } })
    let good = ReadRequest(
      read: { snapshot throws(StoreError) in try snapshot.head() },
      completion: { result in code.withLock { $0.append(result.errorCode) } })
    let recorder = Recorder()
    fixture.store.read([late, good], to: recorder)
    fixture.reader.run()
    #expect(code.withLock { $0 } == [.deadline, nil])
    #expect(recorder.deliveries == 1)
  }

  @Test func `a list of reads sees one moment`() throws {
    let fixture = try StoreFixture()
    let heads = try fixture.read { [fixture = Confine(fixture)] snapshot throws(StoreError) in
      let before = try snapshot.head()
      _ = try? fixture.value.commit(.event(topic: "t", payload: nil))
      return [before, try snapshot.head()]
    }
    #expect(heads == [StoreFixture.opening, StoreFixture.opening])
    #expect(fixture.store.position.head == StoreFixture.opening + 1)
  }

  /// The data folder in Fixtures was written by the first version of format 1 and is never written anew.
  @Test func `a folder of format 1 opens for ever`() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/format-1/store.sqlite")
    let files = MemoryFiles([StoreFormat.databaseName: Array(try Data(contentsOf: source))])
    let fixture = try StoreFixture(files: files, term: 99)
    #expect(try fixture.log().map(\.record?.kind) == [.create, .create, .create, .update, .delete, nil])
    #expect(try fixture.get(Models.flight, "a")?.record.values == ["a", "JFK", 9, "B7", "X1"])
    #expect(try fixture.get(Models.flight, "a")?.version == 2)
    #expect(try fixture.get(Models.flight, "b") == nil)
    let mixed = try #require(try fixture.get(Models.mixed, "m"))
    #expect(mixed.record.values == ["m", "e\u{301}😀", .int(.min), .double(0.1), true, [1, 2.5, "x", nil, ["k": []]]])
    #expect(fixture.store.lineage.entries.map(\.term) == [0xF00D, 99])
    let again = try fixture.commit(.event(topic: "t", payload: ["n": 1]), WriteNumber(client: "c", number: 7))
    #expect(again.isRepeat)
    // Entry 7 is the term that the opening began.
    #expect(try fixture.commit(.event(topic: "u", payload: nil)).offsets == 8...8)
  }
}

/// For a value the test touches on one thread only.
struct Confine<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
