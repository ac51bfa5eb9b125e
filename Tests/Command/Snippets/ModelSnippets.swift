import Foundation
import Martlet
import MartletPublishers

struct Todo: Model {
  var id: String
  var text: String

  enum CodingKeys: String, ModelKey { case id, text }
}

struct Writer: Model {
  var id: String
  var name: String

  enum CodingKeys: String, ModelKey { case id, name }
}

struct Post: Model {
  var id: String
  var title: String
  var rating: Double?
  var author: Writer?

  enum CodingKeys: String, ModelKey { case id, title, rating, author }
  static let nested: [CodingKeys: ModelSelection] = [.author: .model(Writer.self)]
}

/// The guide's requests about models.
enum ModelSnippets {
  static func configure(_ url: URL, _ client: GraphQLClient, _ settings: URL) throws {
    try Martlet.configure(url: url)  // or with a ConnectionConfiguration
    try Martlet.configure(client)  // a GraphQLClient made elsewhere
    try Martlet.configure(file: settings)  // {"url": "wss://…/graphql", "token": "…"}
    try Martlet.configure()  // MARTLET_URL, MARTLET_TOKEN, …
  }

  static func ask(
    _ newPost: Post, _ changed: Post
  ) async throws -> (Any, Any, MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Post>>) {
    let post = Post.keys
    let good = post.title.beginsWith("post") && post.rating > 10.0

    let page = try await Martlet.API.query(request: .list(Post.self, where: good, limit: 20)).get()
    let one = try await Martlet.API.query(request: .get(Post.self, byId: "1")).get()
    _ = try await Martlet.API.mutate(request: .create(newPost)).get()
    _ = try await Martlet.API.mutate(request: .update(changed, where: post.rating == nil)).get()
    let posts = Martlet.API.subscribe(request: .subscription(of: Post.self, type: .onUpdate, where: good))
    return (page, one as Any, posts)
  }

  static func follow(
    _ posts: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Post>>, _ show: (Any) -> Void, _ add: (Post) -> Void
  ) async throws {
    for try await event in posts {
      switch event {
      case .connection(let state): show(state)
      case .data(.success(let post)): add(post)
      case .data(.failure(let error)): show(error.errorDescription)
      }
    }
  }
}
