import Foundation
import MartletTestSupport
import Testing

/// The example against `martlet serve`, each a process of its own.
@Suite(.timeLimit(.minutes(2))) struct ShoppingListTests {
  private func withServer(
    _ access: [String] = ["--dev"], _ body: (_ url: String) async throws -> Void
  ) async throws {
    let schema = Programs.root.appendingPathComponent("Examples/ShoppingList/schema.graphql").path
    let server = try RunningProgram(
      "martlet", ["serve", schema, "--memory", "--port", "0", "--log-level", "error"] + access)
    defer { server.stop() }
    let said = await server.line()
    let url = try #require(said.split(separator: " ").last.map(String.init), "martlet serve said \"\(said)\"")
    try await body(url)
  }

  /// Runs the program to its end; what it printed.
  private func list(_ words: String...) async throws -> String {
    let ended = await (try RunningProgram("ShoppingList", words)).end()
    #expect(ended.status == 0, "\(words): \(ended.errors)")
    return ended.output
  }

  @Test(arguments: [[], ["--events"]])
  func `a household shares its list by HTTP alone`(form: [String]) async throws {
    try await withServer { url in
      let follower = try RunningProgram("ShoppingList", [url, "follow", "2"] + form)
      #expect(await follower.line() == "The list is followed.")
      #expect(try await list(url, "add", "Tea") == "Tea is on the list.\n")
      #expect(try await list(url, "add", "Jam") == "Jam is on the list.\n")
      let heard = await follower.end()
      #expect(heard.output == "Tea\nJam\n" && heard.status == 0, "\(heard.errors)")
      #expect(try await list(url, "buy", "Tea") == "Tea is bought.\n")
      #expect(try await list(url, "show") == "Jam\n")
    }
  }

  @Test func `a household with a key shares its list, and callers without it see nothing`() async throws {
    let (file, key) = try await AccessFiles.made(for: "household")
    defer { try? FileManager.default.removeItem(atPath: file) }
    let option = ["--key", key]
    try await withServer(["--access", file]) { url in
      for form in [[], ["--events"]] {
        let follower = try RunningProgram("ShoppingList", [url, "follow", "1"] + form + option)
        #expect(await follower.line() == "The list is followed.")
        #expect(try await list(url, "add", "Tea", "--key", key) == "Tea is on the list.\n")
        #expect(await follower.end().output == "Tea\n")
      }
      let refused = await (try RunningProgram("ShoppingList", [url, "show"])).end()
      #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("unauthorized"), "\(refused)")
    }
  }

  @Test func `a WebSocket's URL is refused with what to import`() async throws {
    let ended = await (try RunningProgram("ShoppingList", ["ws://127.0.0.1:1/graphql", "show"])).end()
    #expect(ended.status == 1)
    #expect(ended.errors.contains("invalidRequest") && ended.errors.contains("import Martlet"), "\(ended.errors)")
  }
}
