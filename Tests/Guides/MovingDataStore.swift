import Foundation
import Martlet
import MartletDataStore

/// Calls of Amplify's DataStore category after the rename of `Amplify` to `Martlet`.
enum Posts {
  struct Post: Model {
    var id: String
    var title: String
    var rating: Double
    enum CodingKeys: String, ModelKey { case id, title, rating }
  }

  /// Once, when the program starts, in place of `AWSDataStorePlugin`.
  static func configure(_ server: URL, _ file: String) throws {
    let client = try GraphQLClient(url: server)
    let configuration = DataStoreConfiguration.custom(
      errorHandler: { error in print(error) },
      conflictHandler: { conflict in conflict.remote == nil ? .applyRemote : .retryLocal },
      syncExpressions: [.syncExpression(Post.self) { Post.keys.rating > 5 }])
    Martlet.configure(
      dataStore: try DataStore(
        models: [Post.self], storage: .file(file),
        sync: DataStoreSync(client.networkTransport, configuration: configuration)))
  }

  static func add(_ title: String) async throws {
    try await Martlet.DataStore.save(Post(id: UUID().uuidString, title: title, rating: 10))
  }

  /// What came by the hub's channel `dataStore`.
  static func waitUntilReady() async throws {
    let events = Martlet.DataStore.events
    try await Martlet.DataStore.start()
    for await event in events {
      if case .ready = event { return }
    }
  }

  static func signOut() async throws {
    try await Martlet.DataStore.clear(discardingPending: true)
  }
}
