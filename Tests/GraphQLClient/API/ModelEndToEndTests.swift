import Martlet
import MartletServer
import Testing

/// The model API against the server of this package over real sockets.
@Suite(.timeLimit(.minutes(1))) struct ModelEndToEndTests {
  private static let schema = """
    type Post @model { id: ID! title: String! rating: Float author: Writer @belongsTo(fields: ["authorID"]) authorID: ID }
    type Writer @model { id: ID! name: String }
    """

  private func with(_ body: () async throws -> Void) async throws {
    let server = try RealServer { $0.schema = Self.schema }
    defer { server.remove() }
    do {
      try await Martlet.withClient(server.client(), body)
    } catch {
      await server.server.stop()
      throw error
    }
    await server.server.stop()
  }

  @Test func `records are created, read, listed, changed and deleted`() async throws {
    try await with {
      let writer = try await Martlet.API.mutate(request: .create(Writer(id: "w", name: "n"))).get()
      #expect(writer == Writer(id: "w", name: "n"))
      let post = Post(id: "1", title: "post 1", rating: 11)
      #expect(try await Martlet.API.mutate(request: .create(post)).get() == post)
      _ = try await Martlet.API.mutate(request: .create(Post(id: "2", title: "other", rating: 12))).get()
      _ = try await Martlet.API.mutate(request: .create(Post(id: "3", title: "post 3", rating: 2))).get()

      #expect(try await Martlet.API.query(request: .get(Post.self, byId: "1")).get() == post)
      #expect(try await Martlet.API.query(request: .get(Post.self, byId: "9")).get() == nil)
      let key = Post.keys
      let good = try await Martlet.API.query(
        request: .list(Post.self, where: key.title.beginsWith("post") && key.rating > 10.0)
      ).get()
      #expect(good == ModelPage(items: [post]))
      let first = try await Martlet.API.query(request: .list(Post.self, limit: 2)).get()
      let token = try #require(first.nextToken)
      let second = try await Martlet.API.query(request: .list(Post.self, limit: 2, nextToken: token)).get()
      #expect(Set((first.items + second.items).map(\.id)) == ["1", "2", "3"])

      var changed = post
      changed.rating = nil
      #expect(try await Martlet.API.mutate(request: .update(changed)).get().rating == nil)
      let refused = try await Martlet.API.mutate(request: .delete(changed, where: key.title == "else"))
      if case .failure(let error) = refused {
        #expect(!error.errorDescription.isEmpty)
      } else {
        Issue.record("the condition was not met")
      }
      #expect(try await Martlet.API.mutate(request: .delete(changed, where: key.rating == nil)).get().id == "1")
      #expect(try await Martlet.API.query(request: .get(Post.self, byId: "1")).get() == nil)
    }
  }

  @Test func `a filtered subscription has states and models, typed`() async throws {
    try await with {
      let key = Post.keys
      let posts = Martlet.API.subscribe(
        request: .subscription(of: Post.self, type: .onCreate, where: key.rating > 10.0 && !(key.title == "no")))
      var events = posts.makeAsyncIterator()
      var seen: [String] = []
      func take(_ count: Int) async throws {
        for _ in 0..<count {
          switch try await events.next() {
          case .connection(let state): seen.append("\(state)")
          case .data(.success(let post)): seen.append(post.id)
          case .data(.failure(let error)): seen.append(error.errorDescription)
          case nil: seen.append("end")
          }
        }
      }
      try await take(2)
      for (id, title, rating) in [("1", "a", 1.0), ("2", "a", 20), ("3", "no", 30), ("4", "b", 40)] {
        _ = try await Martlet.API.mutate(request: .create(Post(id: id, title: title, rating: rating))).get()
      }
      try await take(2)
      posts.cancel()
      try await take(2)
      #expect(seen == ["connecting", "connected", "2", "4", "disconnected", "end"])
    }
  }

  @Test func `what the server refuses is a failure of the query and the end of the subscription`() async throws {
    try await with {
      let request = GraphQLRequest("query { nothing }", decodePath: "nothing", responseType: Int.self)
      let answer = try await Martlet.API.query(request: request)
      if case .failure(.error(let errors)) = answer {
        #expect(errors.count == 1)
      } else {
        Issue.record("\(answer)")
      }
      let stream = Martlet.API.subscribe(request: GraphQLRequest("subscription { nothing }", responseType: Int.self))
      await #expect(throws: GraphQLClientError.self) {
        for try await event in stream {
          if case .data = event { Issue.record("\(event)") }
        }
      }
    }
  }

  @Test(arguments: ["Todo", "City", "Bus", "Person", "Series", "Match", "Toy"])
  func `plural names are the server's`(name: String) async throws {
    let schema = "type \(name) @model { id: ID! }"
    let server = try RealServer { $0.schema = schema }
    defer { server.remove() }
    let client = try server.client()
    let answer = try await client.query("{ __schema { queryType { fields { name } } } }")
    let names = answer.data?["__schema"]?["queryType"]?["fields"]?.array?.compactMap { $0["name"]?.string } ?? []
    #expect(names.contains("list\(ModelNames.plural(name))"), "\(names)")
    await server.server.stop()
  }
}
