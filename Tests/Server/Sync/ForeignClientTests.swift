import MartletJSON
import MartletRuntime
import MartletServer
import MartletTokens
import Testing

/// What clients of AppSync's documents rely on that this package's own client does not need.
@Suite(.timeLimit(.minutes(1))) struct ForeignClientTests {
  private func ids(_ page: JSONValue) -> [String] { (page["items"]?.array ?? []).compactMap { $0["id"]?.string } }

  private func all(_ client: SyncFixture, _ variables: JSONObject) async throws -> [JSONValue] {
    var (items, token): ([JSONValue], JSONValue) = ([], .null)
    repeat {
      var variables = variables
      variables["nextToken"] = token
      let page = try await client.page(variables)
      items += page["items"]?.array ?? []
      token = page["nextToken"] ?? .null
    } while !token.isNull
    return items
  }

  @Test func `a sync without lastSync ends with the deletions that are known, unless its filter leaves them out`()
    async throws
  {
    try await SyncFixture.with { _, client in
      #expect(try await client.page()["nextToken"] == .null)
      for id in ["a", "b", "c"] { _ = try await client.done("create", ["id": .string(id), "title": "1"]) }
      _ = try await client.done("delete", ["id": "a", "_version": 1])
      _ = try await client.done("delete", ["id": "c", "_version": 1])
      let items = try await all(client, ["limit": 1])
      #expect(items.map { $0["id"] } == ["b", "a", "c"])
      #expect(items.map { $0["_deleted"] } == [.null, true, true])
      #expect(items[1]["_version"] == 2)
      let few = try await all(client, ["filter": ["id": ["ne": "a"]]])
      #expect(few.map { $0["id"] } == ["b", "c"])
      let live = try await client.page(["filter": ["_deleted": ["ne": true]]])
      #expect(ids(live) == ["b"])
      #expect(live["nextToken"] == .null)
      #expect(live["expected"] == nil || live["expected"] == 1)
    }
  }

  @Test func `a filter for deletions shows no live record as deleted`() async throws {
    try await SyncFixture.with { _, client in
      for id in ["a", "b"] { _ = try await client.done("create", ["id": .string(id), "title": "1"]) }
      _ = try await client.done("update", ["id": "a", "title": "2"])
      _ = try await client.done("delete", ["id": "b"])
      for lastSync in [JSONValue.int(0), .null] {
        let items = try await all(client, ["filter": ["_deleted": ["eq": true]], "lastSync": lastSync])
        #expect(items.map { $0["id"] } == ["b"], "\(lastSync)")
        #expect(items.first?["_deleted"] == true)
      }
    }
  }

  @Test func `a page of changes has at most limit records, or one transaction`() async throws {
    try await SyncFixture.with { server, client in
      for number in 0..<9 { _ = try await client.done("create", ["id": .string("p\(number)"), "title": "1"]) }
      for number in 0..<5 { _ = try await client.done("update", ["id": .string("p\(number)"), "title": "2"]) }
      _ = try await client.done("create", ["id": "s", "text": "other"], of: "Strict")
      _ = try await server.transaction { transaction in
        for number in 0..<8 { _ = try transaction.create("Post", ["id": .string("t\(number)"), "title": "1"]) }
      }
      var (sizes, found, token): ([Int], Set<String>, JSONValue) = ([], [], .null)
      repeat {
        let page = try await client.page(["limit": 4, "lastSync": 0, "nextToken": token])
        sizes.append(ids(page).count)
        found.formUnion(ids(page))
        token = page["nextToken"] ?? .null
      } while !token.isNull
      #expect(found.count == 17)
      // The last page has what the one before left room for, and the transaction.
      #expect(sizes.dropLast().allSatisfy { $0 <= 4 }, "\(sizes)")
      #expect((8...11).contains(sizes.last ?? 0), "\(sizes)")
    }
  }

  @Test func `a token that a caller made up, or got for another model, is refused and does no harm`() async throws {
    try await SyncFixture.with { _, client in
      for number in 0..<3 {
        _ = try await client.done("create", ["id": .string("p\(number)"), "title": "1"])
        _ = try await client.done("create", ["id": .string("s\(number)"), "text": "1"], of: "Strict")
      }
      _ = try await client.done("delete", ["id": "p0"])
      _ = try await client.done("delete", ["id": "p1"])
      func code(_ token: String) async throws -> JSONValue? {
        let query = #"{ syncStricts(nextToken: "\#(token)") { items { id } nextToken } }"#
        return try await client.send(query)["errors"]?[0]?["extensions"]?["code"]
      }
      let base = try await client.page(["limit": 1])
      let records = try #require(base["nextToken"]?.string)
      let after: JSONObject = ["limit": 1, "nextToken": .string(records)]
      let deletions = try #require(try await client.page(after)["nextToken"]?.string)
      let changes = try #require(try await client.page(["limit": 1, "lastSync": 0])["nextToken"]?.string)
      for token in [records, deletions, changes] { #expect(try await code(token) == "INVALID_TOKEN", "\(token)") }
      let made: [JSONValue] = [
        ["c", 1, .int(.max), "Strict"], ["c", .int(.min), .int(.max), "Strict"], ["c", 1, 1_000, "Strict"],
        ["c", 1, -1, "Strict"], ["c", 1, 1], ["d", 1, .int(.max), "!", "Strict"], ["r", 1, .null, ""], ["x"], [], 7,
      ]
      for token in made {
        let text = String(decoding: Base64URL.encode(token.serialized()), as: UTF8.self)
        #expect(try await code(text) == "INVALID_TOKEN", "\(token)")
      }
      // The server still answers.
      #expect(try await client.page(["lastSync": .int(.max)])["items"] == [])
      #expect(try await client.page(["lastSync": .int(.min)])["items"]?.array?.count == 3)
    }
  }

  @Test func `errors of versioned models have errorType and data where AppSync has them`() async throws {
    try await SyncFixture.with { _, client in
      _ = try await client.done("create", ["id": "s", "text": "1"], of: "Strict")
      _ = try await client.done("update", ["id": "s", "text": "2", "_version": 1], of: "Strict")
      let error = try await client.mutate("update", ["id": "s", "text": "3", "_version": 1], of: "Strict")["errors"]?[0]
      #expect(error?["errorType"] == "ConflictUnhandled")
      #expect(error?["data"] == error?["extensions"]?["data"])
      #expect(error?["data"]?["text"] == "2")
      #expect(error?["path"] == ["updateStrict"])
      let failed = try await client.send(
        #"mutation { updatePost(input: {id: "none"}, condition: {title: {eq: "x"}}) { id } }"#)["errors"]?[0]
      #expect(failed?["errorType"] == "ConditionalCheckFailedException")
    }
  }
}
