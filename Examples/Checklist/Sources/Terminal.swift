import Foundation
import Martlet
import MartletDataStore

/// One person's list: a store on this device, and its way to the server.
struct Terminal: Sendable {
  let store: DataStore
  private let cable: Cable
  private let say: @Sendable (String) -> Void

  init(
    _ url: URL, _ storage: DataStoreStorage, key: String? = nil, _ say: @escaping @Sendable (String) -> Void
  ) throws {
    self.say = say
    var connection = ConnectionConfiguration()
    if let key { connection.credentials = { _ in .bearer(key) } }
    cable = Cable(try GraphQLClient(url: url, configuration: connection).networkTransport)
    var configuration = DataStoreConfiguration()
    // The other one's change stays; this one is kept among the refused writes, where its person decides.
    configuration.conflictHandler = { conflict in
      let mine = try? conflict.local(as: Item.self)
      let theirs = try? conflict.remote(as: Item.self)
      say("conflict: \"\(mine?.text ?? "removed")\" here, \"\(theirs?.text ?? "removed")\" at the server")
      return .applyRemote
    }
    store = try DataStore(
      models: [Item.self], storage: storage,
      sync: DataStoreSync(cable, configuration: configuration))
  }

  // MARK: The network

  /// Cuts the connection. The store works without it.
  func goOffline() async throws {
    cable.cut()
    try await wait { !$0.isConnected }
    say("is offline")
  }

  func goOnline() async throws {
    cable.mend()
    try await store.networkIsReachable()
    try await settle()
    say("is online, and everything is sent")
  }

  /// Returns when the store has everything and the server has everything.
  func settle() async throws {
    try await store.start()
    try await wait { $0.isSettled }
  }

  private func wait(until condition: (DataStoreSyncStatus) -> Bool) async throws {
    for await status in store.syncStatuses where condition(status) { return }
  }

  func end() async throws {
    try await store.stop()
    cable.shutDown()
  }

  // MARK: The list

  func add(_ text: String) async throws {
    _ = try await store.save(Item(id: text, text: text))
    say("adds \"\(text)\"")
  }

  func finish(_ text: String) async throws {
    try await change(text) { $0.isDone = true }
    say("has done \"\(text)\"")
  }

  func rename(_ text: String, to other: String) async throws {
    try await change(text) { $0.text = other }
    say("calls \"\(text)\" \"\(other)\"")
  }

  func remove(_ text: String) async throws {
    try await store.delete(Item.self, where: Item.keys.text == text)
    say("removes \"\(text)\"")
  }

  private func change(_ text: String, _ body: (inout Item) -> Void) async throws {
    for var item in try await store.query(Item.self, where: Item.keys.text == text) {
      body(&item)
      _ = try await store.save(item)
    }
  }

  /// The list, each item as one line: done or not, and whether the server lacks a change of it.
  func show() async throws {
    for try await snapshot in items() { return say(Self.lines(snapshot)) }
  }

  /// The list once it looks like this.
  func show(_ lines: String) async throws {
    for try await snapshot in items() where Self.lines(snapshot) == lines { return say(lines) }
  }

  private func items() -> MartletAsyncThrowingSequence<DataStoreQuerySnapshot<Item>> {
    store.observeQuery(for: Item.self, sort: .ascending(Item.keys.text))
  }

  private static func lines(_ snapshot: DataStoreQuerySnapshot<Item>) -> String {
    let items = snapshot.items.indices.map { index in
      let item = snapshot.items[index]
      return "[\(item.isDone ? "x" : " ")] \(item.text)\(snapshot.items.isPending(at: index) ? " …" : "")"
    }
    return items.isEmpty ? "nothing to do" : items.joined(separator: ", ")
  }

  // MARK: Refused writes

  /// The writes that the server has refused.
  func showRefused() async throws {
    for write in try await store.rejectedWrites() {
      say("refused: \(write.mutationType.rawValue) \(write.json ?? write.modelId) (\(Self.words(write.reason)))")
    }
  }

  private static func words(_ reason: RejectedWrite.Reason) -> String {
    switch reason {
    case .conflict: "somebody else has changed it"
    case .conditionFailed: "it is not as it was"
    case .unauthorized: "not allowed"
    case .refused(_, let message): message
    case .dependsOn: "the write before it was refused"
    }
  }

  func retryRefused() async throws {
    for write in try await store.rejectedWrites() { try await store.retry(write) }
    say("makes the refused writes again")
  }

  func discardRefused() async throws {
    for write in try await store.rejectedWrites() { try await store.discard(write) }
    say("forgets the refused writes")
  }
}
