// The Swift of docs/guides/live-queries.md, compiled as it stands there.
import MartletDataStore

private enum LocalModels {
  struct Post: Model {
    var id: String
    var title: String
    var rating: Double
    enum CodingKeys: String, ModelKey { case id, title, rating }
  }

  static func begin(_ path: String) async throws {
    Martlet.configure(dataStore: try DataStore(models: [Post.self], storage: .file(path)))
    try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 11))
  }
}
