import Foundation
import Martlet
import MartletGraphQLClient
import MartletJSON
import Testing

/// Generated operations on the store: what is appended to the list of a relation is read, and appended to again.
@Suite struct GeneratedStoreTests {
  /// Answers every query with the same data.
  private struct OneAnswer: NetworkTransport {
    let data: JSONValue

    func send(_ request: OperationRequest) async throws -> OperationPayload { OperationPayload(["data": data]) }

    func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {}
  }

  /// A client whose store has a post without comments, as the server sent it.
  private static func client(_ schema: String?) async throws -> GraphQLClient {
    var configuration = GraphQLStoreConfiguration()
    configuration.schema = schema
    let post: JSONValue = [
      "__typename": "Post", "id": "1", "title": "On lists",
      "comments": ["__typename": "ModelCommentConnection", "items": []],
    ]
    let client = GraphQLClient(
      networkTransport: OneAnswer(data: ["getPost": post]),
      store: GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration))
    #expect(try await client.fetch(query: inline, cachePolicy: .networkOnly).data?.getPost?.comments?.items == [])
    return client
  }

  private static let inline = PostInlineQuery(id: "1")
  private static let fragment = PostByFragmentQuery(id: "1")
  /// The part of the server's schema that has the list.
  private static let schema = """
    type Query { getPost(id: ID!): Post }
    type Post { id: ID! title: String! comments: ModelCommentConnection }
    type ModelCommentConnection { items: [Comment]! }
    type Comment { id: ID! text: String! likes: Int }
    """

  private static func appendInline(_ client: GraphQLClient, _ id: String, likes: Int?) async throws {
    try await client.store.withinReadWriteTransaction { transaction in
      try transaction.update(inline) { $0.getPost?.comments?.items.append(.init(id: id, text: "Yes", likes: likes)) }
    }
  }

  private static func appendByFragment(_ client: GraphQLClient, _ id: String, likes: Int?) async throws {
    try await client.store.withinReadWriteTransaction { transaction in
      try transaction.update(fragment) { data in
        data.getPost?.comments?.items.append(CommentParts(id: id, text: "Yes", likes: likes))
      }
    }
  }

  /// What both operations read.
  private static func comments(_ client: GraphQLClient) async throws -> [[CommentParts?]?] {
    let first = try await client.fetch(query: inline, cachePolicy: .cacheOnly).data?.getPost?.comments?.items
    let second = try await client.fetch(query: fragment, cachePolicy: .cacheOnly).data?.getPost?.comments?.items
    return [first?.map { $0.map { CommentParts(id: $0.id, text: $0.text, likes: $0.likes) } }, second]
  }

  @Test(arguments: [false, true])
  func `a relation's empty list grows by one operation and then by another, and both read all of it`(
    beginsByFragment: Bool
  ) async throws {
    let client = try await Self.client(Self.schema)
    let (first, second) =
      beginsByFragment
      ? (Self.appendByFragment, Self.appendInline) : (Self.appendInline, Self.appendByFragment)
    try await first(client, "1", 3)
    try await first(client, "2", nil)
    try await second(client, "3", nil)
    try await second(client, "4", 5)
    let expected = zip(["1", "2", "3", "4"], [3, nil, nil, 5])
      .map { CommentParts(id: $0, text: "Yes", likes: $1) as CommentParts? }
    #expect(try await Self.comments(client) == [expected, expected])
  }

  @Test func `without the schema an append to the empty list is refused each time with the missing field`() async throws
  {
    let client = try await Self.client(nil)
    for append in [Self.appendInline, Self.appendByFragment] {
      for likes in [1, 2] as [Int?] {
        let error = await #expect(throws: GraphQLStoreError.self) { try await append(client, "1", likes) }
        #expect(error?.code == .missingData)
        #expect(error?.message.contains("getPost.comments.items.0.__typename") == true)
      }
    }
    #expect(try await Self.comments(client) == [[], []])
  }
}
