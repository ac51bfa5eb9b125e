import Foundation
import Martlet
import MartletDataStore

/// Notes on this device that a server has, too.
struct SyncedNotes: Sendable {
  struct Note: Model, Equatable {
    var id: String
    var text: String
    var rank: Int?
    enum CodingKeys: String, ModelKey { case id, text, rank }
  }

  let store: DataStore
  private let client: GraphQLClient

  init(_ url: URL, token: String, _ storage: DataStoreStorage) throws {
    var connection = ConnectionConfiguration()
    connection.credentials = { _ in .bearer(token) }
    client = try GraphQLClient(url: url, configuration: connection)
    var configuration = DataStoreConfiguration()
    configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > 3 }]
    store = try DataStore(
      models: [Note.self], storage: storage,
      sync: DataStoreSync(client.networkTransport, configuration: configuration))
  }

  /// Returns once the server has it.
  func publish(_ note: Note) async throws {
    let handle = try await store.submit(note)
    try await handle.reached(.durable)
  }

  /// Returns when nothing is left to send or to receive.
  func settle() async throws {
    try await store.start()
    for await status in store.syncStatuses where status.isSettled { return }
  }

  func close() { client.shutDown() }
}
