import MartletJSON
import MartletServer
import Testing

/// A server whose program names every caller by the first word of its credentials and groups it by the others, and the
/// requests of such callers.
enum RuleFixture {
  static let schema = """
    type Folder @model @auth(rules: [{allow: private, operations: [read]}, {allow: groups, groups: ["staff"]}]) {
      id: ID!
      name: String
      notes: [Note] @hasMany(indexName: "byFolder", fields: ["id"])
        @auth(rules: [{allow: owner}, {allow: groups, groups: ["staff", "readers"]}])
    }
    type Note @model
      @auth(rules: [
        {allow: owner}, {allow: groups, groups: ["readers"], operations: [read]},
        {allow: groups, groupsField: "team", operations: [read, update]}
      ]) {
      id: ID!
      text: String
      team: String
      rank: Int @auth(rules: [{allow: owner}])
      audit: String @auth(rules: [{allow: groups, groups: ["staff"]}])
      folderID: ID @index(name: "byFolder", sortKeyFields: ["text"], queryField: "notesByFolder")
      folder: Folder @belongsTo(fields: ["folderID"])
    }
    type Vault @model { id: ID! text: String }
    """

  static let question: ConnectionQuestion = { request in
    let shown = (request.payload["Authorization"] ?? request.payload["authToken"])?.string ?? ""
    let words = shown.split(separator: " ").map(String.init)
    guard let name = words.first else { return .accept() }
    return .accept(as: Identity(provider: .function, subject: name, groups: Array(words.dropFirst())))
  }

  static func with(_ schema: String = schema, _ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.access = .onConnect()
        configuration.onConnect = question
      }, body)
  }

  static func post(
    _ query: String, as caller: String, _ port: Int, extensions: JSONObject = JSONObject()
  ) async throws -> JSONValue {
    try await HTTPRequest.graphql(query, port: port, extensions: extensions, headers: [("Authorization", caller)]).json
  }

  /// The data of an operation that must have no errors.
  static func data(_ query: String, as caller: String, _ port: Int) async throws -> JSONValue {
    let answer = try await post(query, as: caller, port)
    #expect(answer["errors"] == nil, "\(caller): \(query): \(answer)")
    return answer["data"] ?? .null
  }

  /// The code of an operation's first error.
  static func code(_ query: String, as caller: String, _ port: Int) async throws -> String? {
    try await post(query, as: caller, port)["errors"]?[0]?["extensions"]?["code"]?.string
  }

  /// A socket of a caller, acknowledged and with cursors.
  static func socket(as caller: String, _ port: Int) async throws -> RawSocket {
    let socket = try await RawSocket.open(port: port)
    socket.send(
      #"{"type":"connection_init","payload":{"authToken":"\#(caller)","martlet":{"cursors":true,"writes":true}}}"#)
    _ = try await socket.message("connection_ack")
    return socket
  }

  /// The ids of a list in an answer.
  static func ids(_ list: JSONValue?) -> [String] {
    (list?["items"]?.array ?? []).compactMap { $0["id"]?.string }.sorted()
  }
}
