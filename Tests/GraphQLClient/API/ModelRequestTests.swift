import Martlet
import Testing

@Suite struct ModelRequestTests {
  private let post = Post(id: "1", title: "x", rating: nil, author: Writer(id: "w"))

  @Test func `documents ask for a model's keys, and for the models it holds by their own`() {
    let fields = "id title rating author { id name }"
    #expect(
      GraphQLRequest.get(Post.self, byId: "1").document == "query GetPost($id: ID!) { getPost(id: $id) { \(fields) } }")
    #expect(GraphQLRequest.get(Post.self, byId: "1").variables == ["id": "1"])
    #expect(
      GraphQLRequest.list(Post.self, where: Post.keys.rating > 1, limit: 5).document
        == "query ListPosts($filter: ModelPostFilterInput, $limit: Int, $nextToken: String) "
        + "{ listPosts(filter: $filter, limit: $limit, nextToken: $nextToken) { items { \(fields) } nextToken } }")
    #expect(
      GraphQLRequest.create(post).document
        == "mutation CreatePost($input: CreatePostInput!) { createPost(input: $input) { \(fields) } }")
    #expect(
      GraphQLRequest.subscription(of: Post.self, type: .onCreate).document
        == "subscription OnCreatePost { onCreatePost { \(fields) } }")
    #expect(
      GraphQLRequest.subscription(of: Post.self, type: .onDelete, where: Post.keys.title == "a", owner: "me").document
        == "subscription OnDeletePost($filter: ModelSubscriptionPostFilterInput, $owner: String) "
        + "{ onDeletePost(filter: $filter, owner: $owner) { \(fields) } }")
  }

  @Test func `inputs leave out associations, and nil at creation only`() {
    #expect(GraphQLRequest.create(post).variables == ["input": ["id": "1", "title": "x"]])
    #expect(
      GraphQLRequest.update(post).variables == ["input": ["id": "1", "title": "x", "rating": .null]])
    #expect(
      GraphQLRequest.delete(post, where: Post.keys.title == "x").variables
        == ["input": ["id": "1"], "condition": ["title": ["eq": "x"]]])
  }

  @Test func `a key of several fields is asked for by all of them`() {
    let request = GraphQLRequest.get(Seat.self, byIdentifier: [.flight: "OS 87", .row: 12])
    #expect(
      request.document
        == "query GetSeat($flight: String!, $row: Int!) { getSeat(flight: $flight, row: $row) { flight row taken } }")
    #expect(request.variables == ["flight": "OS 87", "row": 12])
  }
}

struct Seat: Model {
  var flight: String
  var row: Int
  var taken: Bool?
  enum CodingKeys: String, ModelKey { case flight, row, taken }
  static var primaryKey: [CodingKeys] { [.flight, .row] }
  static var keyTypes: [CodingKeys: String] { [.row: "Int"] }
}
