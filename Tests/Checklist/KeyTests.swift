import Foundation
import MartletDataStore
import MartletRuntime
import MartletServer
import Testing

@testable import Checklist

@Suite(.timeLimit(.minutes(1))) struct KeyTests {
  @Test func `terminals with a key share a list, and what one without writes stays with it`() async throws {
    let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Examples/Checklist/schema.graphql")
    let key = "martlet_" + String(repeating: "0", count: 64)
    var configuration = ServerConfiguration(schema: try String(contentsOf: schema, encoding: .utf8))
    // The digest is the key's SHA-256.
    configuration.access = .keys(
      try AccessFile(
        """
        { "keys": [{ "name": "household", "sha256": "8027e55fe110b1379ac24902f1f768e33bd681f02a4b999837eae0749de72ab4" }] }
        """))
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql"))
    let lines = Lock<[String]>([])
    func terminal(_ name: String, _ key: String?) throws -> Terminal {
      try Terminal(url, .inMemory, key: key) { line in lines.withLock { $0.append("\(name) | \(line)") } }
    }
    let (ada, bob, eve) = (try terminal("ada", key), try terminal("bob", key), try terminal("eve", nil))
    try await eve.add("tea")
    try await ada.settle()
    try await bob.settle()
    try await ada.add("milk")
    try await bob.show("[ ] milk")
    try await eve.store.start()
    try await eve.show("[ ] tea …")
    try await bob.add("bread")
    try await ada.show("[ ] bread, [ ] milk")
    #expect(lines.withLock { $0.last } == "ada | [ ] bread, [ ] milk")
    for terminal in [ada, bob, eve] { try await terminal.end() }
    await server.stop()
  }
}
