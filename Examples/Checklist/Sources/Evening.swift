import Foundation
import MartletDataStore
import MartletServer

/// One evening with a server and two terminals in one process, as `make run-checklist` shows it.
struct Evening {
  static func play(schema: String, _ print: @escaping @Sendable (String) -> Void) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    guard let url = URL(string: "ws://127.0.0.1:\(server.port)/graphql") else { return }
    func terminal(_ name: String) throws -> Terminal {
      try Terminal(url, .inMemory) { line in print("\(name) | \(line)") }
    }
    let (ada, bob) = (try terminal("ada"), try terminal("bob"))
    try await share(ada, bob)
    try await partAndMeet(ada, bob)
    try await disagree(ada, bob)
    try await beRefused(ada)
    try await ada.end()
    try await bob.end()
    await server.stop()
  }

  /// What one saves, the other sees.
  private static func share(_ ada: Terminal, _ bob: Terminal) async throws {
    try await ada.settle()
    try await bob.settle()
    try await ada.add("milk")
    try await ada.add("bread")
    try await bob.show("[ ] bread, [ ] milk")
    try await bob.finish("milk")
    try await ada.show("[ ] bread, [x] milk")
  }

  /// One works offline and comes back.
  private static func partAndMeet(_ ada: Terminal, _ bob: Terminal) async throws {
    try await bob.goOffline()
    try await bob.add("candles")
    try await bob.remove("milk")
    try await bob.show()
    try await ada.add("tea")
    try await ada.show("[ ] bread, [x] milk, [ ] tea")
    try await bob.goOnline()
    try await bob.show("[ ] bread, [ ] candles, [ ] tea")
    try await ada.show("[ ] bread, [ ] candles, [ ] tea")
  }

  /// Both change the same item.
  private static func disagree(_ ada: Terminal, _ bob: Terminal) async throws {
    try await bob.goOffline()
    try await bob.rename("bread", to: "rye bread")
    try await ada.rename("bread", to: "white bread")
    try await ada.settle()
    try await bob.goOnline()
    try await bob.show("[ ] candles, [ ] tea, [ ] white bread")
    try await bob.showRefused()
    try await bob.retryRefused()
    try await bob.settle()
    try await ada.show("[ ] candles, [ ] rye bread, [ ] tea")
  }

  /// The server does not take everything: the list goes back to what it was, and the write is not lost.
  private static func beRefused(_ ada: Terminal) async throws {
    try await ada.rename("tea", to: "a pound of the green tea from the market")
    try await ada.settle()
    try await ada.show("[ ] candles, [ ] rye bread, [ ] tea")
    try await ada.showRefused()
    try await ada.discardRefused()
  }
}
