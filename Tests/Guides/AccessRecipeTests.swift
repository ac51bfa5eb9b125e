import Foundation
import Martlet
import MartletHTTP
import MartletServer
import Testing

/// The recipes of docs/guides/access.md for issuers of tokens: the rules and the access file as they stand there, with
/// an issuer of this process in the place of the named one.
@Suite(.timeLimit(.minutes(1))) struct AccessRecipeTests {
  /// What stands under a heading of the guide.
  private struct Recipe {
    let schema: String
    let access: String

    init(_ heading: String) throws {
      let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      let page = folder.appendingPathComponent("../../docs/guides/access.md").standardizedFileURL
      let text = try String(contentsOf: page, encoding: .utf8)
      let start = try #require(text.range(of: "\n### \(heading)\n"), "the guide has no recipe \"\(heading)\"")
      let rest = text[start.upperBound...]
      let section = rest[..<(rest.range(of: "\n### ")?.lowerBound ?? rest.endIndex)]
      func block(_ language: String) throws -> String {
        let begin = try #require(section.range(of: "```\(language)\n"), "\(heading) has no \(language)")
        let end = try #require(section.range(of: "\n```", range: begin.upperBound..<section.endIndex))
        return String(section[begin.upperBound..<end.lowerBound])
      }
      schema = try block("graphql")
      access = try block("json")
    }
  }

  private func with(
    _ schema: String, _ access: String, _ body: (URL) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .keys(try AccessFile(access))
    configuration.log = .silent
    configuration.loops = 1
    configuration.limits.access.unknownKeyPause = .milliseconds(1)
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private func texts(_ client: GraphQLClient) async throws -> [String] {
    let items = try await client.query("{ listNotes { items { text } } }").data?["listNotes"]?["items"]?.array ?? []
    return items.compactMap { $0["text"]?.string }.sorted()
  }

  /// The owner of a note that was written.
  private func write(_ text: String, _ client: GraphQLClient) async throws -> String? {
    try await client.mutate("mutation { createNote(input: { text: \"\(text)\" }) { owner } }")
      .data?["createNote"]?["owner"]?.string
  }

  private static func folder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
  }

  @Test
  func
    `users of an OpenID Connect provider have their own records, and keep a subscription when the provider changes its keys`()
    async throws
  {
    let recipe = try Recipe("An OpenID Connect provider")
    let issuer = LocalIssuer { user in ["aud": "board", "groups": user == "eve" ? ["staff"] : []] }
    try await issuer.with { address in
      let access = recipe.access.replacingOccurrences(of: "https://login.example", with: address)
      try #require(access != recipe.access)
      try await with(recipe.schema, access) { url in
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        func client(_ user: String) async throws -> GraphQLClient {
          try await ShowCredentials.client(
            of: url, OIDCConfiguration(issuer: address, clientID: user), folder: folder.appendingPathComponent(user))
        }
        let ada = try await client("ada")
        #expect(try await write("first", ada) == "ada")
        let bob = try await client("bob")
        #expect(try await write("other", bob) == "bob")
        #expect(try await texts(ada) == ["first"])
        #expect(try await texts(bob) == ["other"])
        let notes = ada.subscribe("subscription { onCreateNote { text } }")
        try await notes.ready()
        var events = notes.makeAsyncIterator()
        // The first key leaves the set at once: what it signed is no longer accepted, on requests and on the socket.
        issuer.rotate(to: 1, publishing: [1])
        let eve = try await client("eve")
        #expect(try await texts(eve) == ["first", "other"], "staff reads all")
        _ = try await write("second", bob)
        _ = try await write("third", ada)
        var seen: [String] = []
        while seen.isEmpty, let event = try await events.next() {
          #expect(event.gap == nil)
          if let text = event.data?["onCreateNote"]?["text"]?.string { seen.append(text) }
        }
        #expect(seen == ["third"], "nobody else's, and none lost while the socket was replaced")
        notes.cancel()
        #expect(issuer.asked("/keys") >= 2)
        // Another program of the same user begins with the tokens that were kept.
        #expect(try await texts(client("ada")) == ["first", "third"])
      }
    }
  }

  @Test func `tokens of a Cognito user pool are accepted as its recipe says, by either half of the owner's name`()
    async throws
  {
    let recipe = try Recipe("Cognito tokens")
    let entry = try #require(JSONValue(parsing: recipe.access)["tokens"]?[0])
    let pool = try #require(entry["issuer"]?.string)
    let audience = try #require(entry["audience"]?[0]?.string)
    let issuer = LocalIssuer(named: pool) { user in
      [
        "cognito:username": .string("\(user)-name"), "cognito:groups": user == "eve" ? ["Admins"] : [],
        "event_id": "7c", "auth_time": 1,
      ]
    }
    try await issuer.with { address in
      // The pool's own address is not on this machine; everything else is the recipe's.
      func access(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var members = try #require(entry.object)
        members["jwks"] = .string(address + "/keys")
        change(&members)
        return JSONValue.object(["tokens": [.object(members)]]).description
      }
      /// A token as a pool makes it for what it is used for.
      func token(_ user: String, _ use: String, client id: String? = nil) throws -> String {
        let id = JSONValue.string(id ?? audience)
        return try issuer.token(
          user, at: address,
          adding: use == "id"
            ? ["token_use": "id", "aud": id, "email": .string("\(user)@example.com")]
            : ["token_use": "access", "client_id": id, "scope": "openid"])
      }
      func client(_ url: URL, _ token: String) throws -> GraphQLClient {
        try ShowCredentials.client(of: url) { (text: token, lifetime: .seconds(3_600)) }
      }
      try await with(recipe.schema, access()) { url in
        let ada = try client(url, token("ada", "id"))
        #expect(try await write("mine", ada) == "ada::ada-name")
        #expect(try await texts(ada) == ["mine"])
        #expect(try await texts(client(url, token("bob", "id"))) == [])
        #expect(try await texts(client(url, token("eve", "id"))) == ["mine"], "the group of the claim cognito:groups")
        // Either half of the name is the owner's.
        for half in ["ada", "ada-name"] {
          let eve = try client(url, token("eve", "id"))
          _ = try await eve.mutate("mutation { createNote(input: { text: \"\(half)\", owner: \"\(half)\" }) { id } }")
          #expect(try await texts(ada).contains(half), "a record of \(half)")
        }
        // Access tokens have no audience, and those of another app client another one.
        await #expect(throws: GraphQLClientError.self) { try await texts(client(url, token("ada", "access"))) }
        await #expect(throws: GraphQLClientError.self) {
          try await texts(client(url, token("ada", "id", client: "another app")))
        }
      }
      try await with(recipe.schema, access { $0["audience"] = nil }) { url in
        let ada = try client(url, token("ada", "access", client: "another app"))
        #expect(try await write("mine", ada) != nil)
      }
    }
  }

  @Test func `a client that shows the id token is accepted where access tokens have no audience, and no other is`()
    async throws
  {
    let issuer = LocalIssuer { _ in [:] }
    try await issuer.with { address in
      let access = #"{"tokens": [{"issuer": "\#(address)", "audience": ["app"]}]}"#
      try await with(Recipe("Cognito tokens").schema, access) { url in
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var oidc = OIDCConfiguration(issuer: address, clientID: "app")
        oidc.showsIDToken = true
        let shows = try await ShowCredentials.client(of: url, oidc, folder: folder)
        #expect(try await write("mine", shows) == "app")
        oidc.showsIDToken = false
        let other = try await ShowCredentials.client(of: url, oidc, folder: folder)
        await #expect(throws: GraphQLClientError.self) { try await texts(other) }
      }
    }
  }
}
