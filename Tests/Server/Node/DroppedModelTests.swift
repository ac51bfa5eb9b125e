import MartletServer
import Testing

/// A model that was dropped with its records and is there again under the same name: its earlier changes can no
/// longer be shown.
@Suite(.timeLimit(.minutes(1))) struct DroppedModelTests {
  private static let note = "type Note @model @versioned { id: ID! }"
  private static let other = "type Other @model @versioned { id: ID! }"

  private static func with(
    _ schema: String, _ folder: TemporaryFolder, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      {
        $0.data = .folder(folder.path + "/data")
        $0.allowsDropping = true
      }, body)
  }

  private static func create(_ model: String, _ id: String, _ server: GraphQLServer) async throws {
    let mutation = "mutation { create\(model)(input: {id: \"\(id)\"}) { id } }"
    _ = try await HTTPRequest.graphql(mutation, port: server.port)
  }

  private static func follow(
    _ model: String, _ server: GraphQLServer, resume: String? = nil
  ) async throws -> RawSocket {
    let socket = try await RawSocket.session(port: server.port)
    socket.subscribe("1", "subscription { onCreate\(model) { id } }", resume: resume)
    return socket
  }

  /// Serves both models, then one of them, then both again.
  private static func dropped(
    _ first: (GraphQLServer) async throws -> Void, _ last: (GraphQLServer) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    try await with(note + " " + other, folder, first)
    try await with(other, folder) { try await create("Other", "between", $0) }
    try await with(note + " " + other, folder, last)
  }

  @Test func `P4: its subscribers get one gap of schema, and those of other models none`() async throws {
    var cursor: String?
    try await Self.dropped { server in
      let socket = try await Self.follow("Note", server)
      cursor = try await socket.message("ready")["cursor"]?.string
      try await Self.create("Note", "lost", server)
      try await Self.create("Other", "before", server)
      socket.abort()
    } _: { server in
      let notes = try await Self.follow("Note", server, resume: cursor)
      let gap = try await notes.message()
      #expect(gap["type"] == "gap" && gap["reason"] == "schema")
      #expect(try await notes.message()["type"] == "ready")
      let others = try await Self.follow("Other", server, resume: cursor)
      for id in ["before", "between"] {
        #expect(try await others.message()["payload"]?["data"]?["onCreateOther"]?["id"]?.string == id)
      }
      #expect(try await others.message()["type"] == "ready")
      try await Self.create("Note", "new", server)
      #expect(try await notes.message()["payload"]?["data"]?["onCreateNote"]?["id"] == "new")
      // What comes after the gap resumes as ever.
      let again = try await Self.follow("Note", server, resume: gap["to"]?.string)
      #expect(try await again.message()["payload"]?["data"]?["onCreateNote"]?["id"] == "new")
      #expect(try await again.message()["type"] == "ready")
      for socket in [notes, others, again] { socket.abort() }
    }
  }

  @Test func `a sync since a time before has all records, and takes the place of what the client has`() async throws {
    var since: Int64 = 0
    func sync(_ arguments: String, _ server: GraphQLServer) async throws -> (isReplacement: Bool?, count: Int?) {
      let query = "{ syncNotes\(arguments) { items { id } startedAt isReplacement } }"
      let page = try await HTTPRequest.graphql(query, port: server.port).json["data"]?["syncNotes"]
      since = page?["startedAt"]?.int ?? since
      return (page?["isReplacement"]?.bool, page?["items"]?.array?.count)
    }
    try await Self.dropped { server in
      try await Self.create("Note", "lost", server)
      #expect(try await sync("", server) == (true, 1))
    } _: { server in
      #expect(try await sync("(lastSync: \(since))", server) == (true, 0))
      try await Self.create("Note", "new", server)
      #expect(try await sync("(lastSync: \(since))", server) == (false, 1))
    }
  }
}
