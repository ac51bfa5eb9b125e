import MartletDataStore

enum FindModels {
  struct Blog: Model {
    var id: String
    var name: String
    enum CodingKeys: String, ModelKey { case id, name }
  }

  struct Post: StoredModel {
    var id: String
    var title: String
    var rating: Double
    var blog: LazyReference<Blog>
    enum CodingKeys: String, ModelKey { case id, title, rating, blog }
    static var relations: [CodingKeys: ModelAssociation] { [.blog: .belongsTo(Blog.self, fields: "blogID")] }
  }

  static func search(_ store: DataStore) async throws -> [Post] {
    let post = Post.keys
    return try await store.query(
      Post.self,
      where: post.title.beginsWith("post") && post.rating > 10.0 && post.blog.with(Blog.keys.name != "Archive"),
      sort: [.descending(post.rating), .ascending(post.title)],
      paginate: .page(0, limit: 20))
  }

  static func summary(_ store: DataStore) async throws -> [JSONValue] {
    let post = Post.keys
    return try await store.aggregate([.count, .average(post.rating), .maximum(post.rating)], of: Post.self)
  }

  static func raise(_ store: DataStore, _ id: String) async throws {
    try await store.transaction { transaction in
      guard var post = try transaction.query(Post.self, byId: id) else { return }
      post.rating += 1
      try transaction.save(post, where: Post.keys.rating < 20.0)
    }
  }

  static func watch(_ store: DataStore) async throws {
    let post = Post.keys
    let snapshots = store.observeQuery(for: Post.self, where: post.rating > 10.0, sort: .ascending(post.rating))
    for try await snapshot in snapshots {
      print(snapshot.items.count, snapshot.isSynced, snapshot.changes.insertions)
    }
  }

  static func changes(_ store: DataStore) async throws {
    for try await event in store.observe(Post.self) {
      print(event.mutationType, event.modelId, try event.decodeModel(as: Post.self).title)
    }
  }

  /// In main-actor code, such as a view, without an annotation.
  @MainActor
  final class Screen {
    let posts = LiveQuery(Post.self, where: Post.keys.rating > 10.0, sort: .ascending(Post.keys.rating))

    var text: String { posts.isLoading ? "…" : posts.items.map(\.title).joined(separator: ", ") }
  }
}
