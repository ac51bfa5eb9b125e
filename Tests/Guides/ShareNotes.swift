import Foundation
import Martlet
import MartletDataStore

/// The notes of an app and of its extensions, in a folder that all of them reach.
struct SharedNotes: Sendable {
  struct Note: Model, Equatable {
    var id: String
    var text: String
    enum CodingKeys: String, ModelKey { case id, text }
  }

  let store: DataStore
  private let client: GraphQLClient

  init(_ server: URL, in folder: URL) throws {
    client = try GraphQLClient(url: server)
    store = try DataStore(
      models: [Note.self], storage: .file(folder.appendingPathComponent("notes.sqlite").path),
      sync: DataStoreSync(client.networkTransport))
  }

  /// Whether another process syncs the file for this one.
  var isGuest: Bool { store.syncStatus.isElsewhere }

  /// Returns when the server has the note, whichever process sent it.
  func publish(_ note: Note) async throws {
    try await store.submit(note).reached(.durable)
  }

  func close() { client.shutDown() }
}
