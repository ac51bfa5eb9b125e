import MartletJSON
import MartletServer
import Testing

/// Requests to a server with versioned models, as an AppSync DataStore client writes them.
struct SyncFixture {
  static let schema = """
    type Post @model @versioned {
      id: ID!
      title: String!
      rating: Int
      tags: [String]
    }
    type Strict @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY) { id: ID! text: String }
    """

  let port: Int

  static func with(
    _ schema: String = schema, _ adjust: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (GraphQLServer, SyncFixture) async throws -> Void
  ) async throws {
    try await Served.with(schema, adjust) { server in try await body(server, SyncFixture(port: server.port)) }
  }

  func send(
    _ query: String, _ variables: JSONObject = [:], replaced: JSONObject? = nil, number: Int64 = 1,
    as caller: String? = nil
  ) async throws -> JSONValue {
    var extensions = JSONObject()
    if let replaced {
      extensions = [
        "martlet": ["write": ["client": "phone", "number": .int(number), "replaced": .object(replaced)]]
      ]
    }
    return try await HTTPRequest.graphql(
      query, port: port, variables: variables, extensions: extensions,
      headers: caller.map { [("Authorization", $0)] } ?? []
    ).json
  }

  /// The document of Amplify's `SyncPosts`.
  static let sync = document("nextToken startedAt")

  private static func document(_ members: String) -> String {
    """
    query SyncPosts($filter: ModelPostFilterInput, $lastSync: AWSTimestamp, $limit: Int, $nextToken: String) {
      syncPosts(filter: $filter, lastSync: $lastSync, limit: $limit, nextToken: $nextToken) {
        items { id rating tags title __typename _version _deleted _lastChangedAt }
        \(members)
      }
    }
    """
  }

  /// A page of `syncPosts`; with the members of this package as well.
  func page(_ variables: JSONObject = [:]) async throws -> JSONValue {
    let answer = try await send(
      Self.document("nextToken startedAt cursor isReplacement"), variables)
    #expect(answer["errors"] == nil, "\(answer)")
    return answer["data"]?["syncPosts"] ?? .null
  }

  func mutate(
    _ verb: String, _ input: JSONObject, of model: String = "Post", replaced: JSONObject? = nil, number: Int64 = 1
  ) async throws -> JSONValue {
    let title = verb == "create" ? "Create" : verb == "update" ? "Update" : "Delete"
    let fields = model == "Post" ? "id title rating tags" : "id text"
    return try await send(
      """
      mutation M($input: \(title)\(model)Input!) {
        \(verb)\(model)(input: $input) { \(fields) __typename _version _deleted _lastChangedAt }
      }
      """, ["input": .object(input)], replaced: replaced, number: number)
  }

  /// What a mutation that must succeed returns.
  func done(
    _ verb: String, _ input: JSONObject, of model: String = "Post", replaced: JSONObject? = nil, number: Int64 = 1
  ) async throws -> JSONValue {
    let answer = try await mutate(verb, input, of: model, replaced: replaced, number: number)
    #expect(answer["errors"] == nil, "\(answer)")
    return answer["data"]?["\(verb)\(model)"] ?? .null
  }
}
