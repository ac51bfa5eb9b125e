import MartletDataStore

enum RelatedModels {
  struct Post: StoredModel, Hashable {
    enum Status: String, Codable, CaseIterable, QueryOperand { case draft, published }

    struct Place: Codable, Hashable, Sendable {
      var latitude: Double
      var longitude: Double
    }

    var id: String = ModelIdentifier.newID()
    var title: String
    var rating: Double
    var status = Status.draft
    var tags: [String] = []
    var place: Place?
    var written: Temporal.DateTime?
    var blog: LazyReference<Blog>
    var comments: List<Comment> = []

    enum CodingKeys: String, ModelKey { case id, title, rating, status, tags, place, written, blog, comments }
    static var relations: [CodingKeys: ModelAssociation] {
      [
        .blog: .belongsTo(Blog.self, fields: "blogID"),
        .comments: .hasMany(Comment.self, fields: "postID"),
      ]
    }
    static var indexes: [StoredIndex] { [StoredIndex("byRating", fields: "rating", "title")] }
  }

  struct Blog: StoredModel, Hashable {
    var id: String
    var name: String
    var posts: List<Post> = []

    enum CodingKeys: String, ModelKey { case id, name, posts }
    static var relations: [CodingKeys: ModelAssociation] { [.posts: .hasMany(Post.self, fields: "blogID")] }
  }

  /// Its post is read with it.
  struct Comment: StoredModel, Hashable {
    var post: Post?
    var number: Int
    var text: String

    enum CodingKeys: String, ModelKey { case post, number, text, postID }
    var postID: String
    static var primaryKey: [CodingKeys] { [.postID, .number] }
    static var relations: [CodingKeys: ModelAssociation] { [.post: .belongsTo(Post.self, fields: "postID")] }
  }

  static func begin(_ path: String) async throws {
    let store = try DataStore(models: [Blog.self, Post.self, Comment.self], storage: .file(path))
    Martlet.configure(dataStore: store)
    let blog = try await Martlet.DataStore.save(Blog(id: "news", name: "News"))
    let post = try await Martlet.DataStore.save(Post(title: "post one", rating: 11, blog: LazyReference(blog)))
    try await Martlet.DataStore.save(Comment(post: post, number: 1, text: "First!", postID: post.id))
  }

  static func follow(_ post: Post) async throws -> (String?, [String]) {
    let blog = try await post.blog.get()
    try await post.comments.fetch()
    return (blog?.name, post.comments.map(\.text))
  }

  static func delete(_ blog: Blog) async throws {
    // Its posts go with it, and their comments before them, in one transaction.
    try await Martlet.DataStore.delete(blog)
  }
}
