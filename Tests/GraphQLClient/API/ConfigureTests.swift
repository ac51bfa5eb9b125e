import Foundation
import Martlet
import Testing

/// Each test has a holder of its own, as if it were a process of its own.
@Suite struct ConfigureTests {
  private func fresh<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    try await Martlet.$holder.withValue(ClientHolder(), operation: body)
  }

  private func reason(_ body: () throws -> Void) -> Martlet.ConfigurationError.Reason? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Martlet.ConfigurationError)?.reason
    }
  }

  private func file(_ text: String) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString).json")
    try Data(text.utf8).write(to: url)
    return url
  }

  @Test func `use before configure is a typed error, of a subscription its end`() async throws {
    await fresh {
      let todos = Martlet.API.subscribe(request: .subscription(of: Post.self, type: .onCreate))
      await #expect(throws: Martlet.ConfigurationError.self) {
        for try await _ in todos { Issue.record("an event from nowhere") }
      }
      await #expect(throws: Martlet.ConfigurationError.self) {
        try await Martlet.API.query(request: .get(Post.self, byId: "1"))
      }
      await #expect(throws: Martlet.ConfigurationError.self) {
        try await Martlet.API.mutate(request: .delete(Post(id: "1", title: "")))
      }
      #expect(reason { _ = try Martlet.client } == .notConfigured)
    }
  }

  @Test func `a second configure is a typed error and leaves the first in place`() async throws {
    try await fresh {
      let url = try #require(URL(string: "ws://127.0.0.1:1/graphql"))
      try Martlet.configure(url: url)
      let first = try Martlet.client
      #expect(reason { try Martlet.configure(url: url) } == .alreadyConfigured)
      #expect(reason { try Martlet.configure(environment: [:]) } == .alreadyConfigured)
      #expect(try Martlet.client === first)
    }
  }

  @Test func `a failed configure can be repeated`() async throws {
    try await fresh {
      #expect(reason { try Martlet.configure(environment: [:]) } == .invalid)
      #expect(reason { try Martlet.configure(environment: ["MARTLET_URL": "ftp://example.test"]) } == .invalid)
      try Martlet.configure(environment: ["MARTLET_URL": "wss://example.test/graphql", "MARTLET_TOKEN": "t"])
      #expect(throws: Never.self) { try Martlet.client }
    }
  }

  @Test func `a file configures, and says what is wrong in it by name`() async throws {
    let good = try file(#"{"url":"wss://example.test/graphql","token":"t","apiKey":"k","headers":{"a":"b"}}"#)
    defer { try? FileManager.default.removeItem(at: good) }
    try await fresh { try Martlet.configure(file: good) }
    try await fresh { try Martlet.configure(environment: ["MARTLET_CONFIGURATION": good.path]) }
    let wrong: [(text: String, name: String)] = [
      ("[]", "object"), ("{", "JSON"), (#"{"token":"t"}"#, "url"), (#"{"url":"wss://a.test","tokn":"t"}"#, "tokn"),
      (#"{"url":"wss://a.test","headers":{"a":1}}"#, "headers.a"),
    ]
    for (text, name) in wrong {
      let bad = try file(text)
      defer { try? FileManager.default.removeItem(at: bad) }
      await fresh {
        let error = #expect(throws: Martlet.ConfigurationError.self) { try Martlet.configure(file: bad) }
        #expect(error?.reason == .invalid)
        if name != "JSON" { #expect(error?.message.contains(name) == true) }
      }
    }
    await fresh {
      let missing = URL(fileURLWithPath: good.path + ".missing")
      #expect(reason { try Martlet.configure(file: missing) } == .unreadable)
    }
  }

  @Test func `a client set around a task is seen by its children only`() async throws {
    try await fresh {
      let url = try #require(URL(string: "ws://127.0.0.1:1/graphql"))
      let client = try GraphQLClient(url: url)
      try await Martlet.withClient(client) {
        async let seen = try Martlet.client
        #expect(try await seen === client)
      }
      #expect(reason { _ = try Martlet.client } == .notConfigured)
    }
  }
}
