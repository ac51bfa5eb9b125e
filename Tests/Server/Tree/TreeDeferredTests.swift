import Foundation
import MartletJSON
import MartletJSONTree
import MartletRuntime
import MartletServer
import MartletStore
import MartletVocabulary
import Testing

/// Writes for the end of a session: judged when they are left, made once, also by the next process.
@Suite struct TreeDeferredTests {
  private static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true, "number": {".validate": "newData.isNumber()"}},
      "private": {".write": "auth.uid == 'ada'"}
    }}
    """

  private func serve(
    _ folder: TemporaryFolder? = nil, grace: Duration = .seconds(3_600),
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.resumeGrace = grace
        if let folder { $0.data = .folder(folder.path) }
      }, body)
  }

  private static let increment: JSONValue = [".sv": ["increment": 1]]

  @Test func `a write that the rules refuse is refused when it is left`() async throws {
    try await serve { server in
      let client = try await TreePeer(port: server.port)
      let denied = try await client.answer(client.send("o", ["p": "/private/x", "d": 1]))
      #expect(denied["s"] == "permission_denied")
      let invalid = try await client.answer(client.send("o", ["p": "/open/number", "d": "text"]))
      #expect(invalid["s"] == "permission_denied")
      let malformed = try await client.answer(client.send("o", ["p": "/open/x", "d": ["a.b": 1]]))
      #expect(malformed["s"] == "invalid_data")
    }
  }

  @Test func `set, update, remove and increment are made in their order, without what was cancelled`() async throws {
    try await serve { server in
      let (leaving, staying) = (try await TreePeer(port: server.port), try await TreePeer(port: server.port))
      try await leaving.ok("p", ["p": "/open/gone", "d": 1])
      try await leaving.ok("o", ["p": "/open/n", "d": 10])
      try await leaving.ok("o", ["p": "/open/n", "d": Self.increment])
      try await leaving.ok("om", ["p": "/open", "d": ["n2": Self.increment, "a/b": true]])
      try await leaving.ok("o", ["p": "/open/gone", "d": nil])
      try await leaving.ok("o", ["p": "/open/cancelled/deep", "d": 1])
      try await leaving.ok("oc", ["p": "/open/cancelled", "d": nil])
      try await leaving.ok("o", ["p": "/open/end", "d": "last"])
      _ = try await staying.listen("/open/end")
      leaving.socket.abort()
      #expect(try await staying.push().body["d"] == "last")
      #expect(try await staying.value("/open") == ["a": ["b": true], "end": "last", "n": 11, "n2": 1])
    }
  }

  @Test func `a server that was stopped makes what its clients left once the grace is over, and once only`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await serve(folder) { server in
      let client = try await TreePeer(port: server.port)
      try await client.ok("o", ["p": "/open/n", "d": Self.increment])
      try await client.ok("o", ["p": "/open/end", "d": true])
    }
    // Within the grace nothing is made.
    try await serve(folder) { (server: GraphQLServer) async throws in
      #expect(try await TreePeer(port: server.port).value("/open") == [:])
    }
    for _ in 0..<2 {
      try await serve(folder, grace: .zero) { server in
        let client = try await TreePeer(port: server.port)
        if try await client.listen("/open/end").isNull { #expect(try await client.push().body["d"] == true) }
        #expect(try await client.value("/open") == ["end": true, "n": 1])
      }
    }
  }

  @Test func `a client that comes back to the next process keeps what it left, also when it leaves it again`()
    async throws
  {
    let folder = try TemporaryFolder()
    var session = ""
    try await serve(folder) { server in
      let client = try await TreePeer(port: server.port)
      session = client.session
      try await client.ok("o", ["p": "/open/n", "d": Self.increment])
      try await client.ok("o", ["p": "/open/end", "d": true])
    }
    try await serve(folder) { server in
      let (client, staying) = (
        try await TreePeer(port: server.port, "ls=\(session)"), try await TreePeer(port: server.port)
      )
      #expect(client.session == session)
      try await client.ok("o", ["p": "/open/n", "d": Self.increment])
      _ = try await staying.listen("/open/end")
      #expect(try await staying.value("/open") == [:])
      client.socket.abort()
      #expect(try await staying.push().body["d"] == true)
      #expect(try await staying.value("/open") == ["end": true, "n": 1])
    }
  }

  @Test func `a client with a name is waited for, and cancels what an earlier connection left`() async throws {
    try await serve { server in
      let staying = try await TreePeer(port: server.port)
      for round in 0..<2 {
        let client = try await TreePeer(port: server.port, "x=1&c=ada")
        try await client.ok("o", ["p": "/open/here", "d": nil, "x": ["g": 3_000_000]])
        try await client.ok("p", ["p": "/open/here", "d": .int(Int64(round))])
        client.socket.abort()
      }
      let client = try await TreePeer(port: server.port, "x=1&c=ada")
      #expect(try await staying.value("/open/here") == 1)
      try await client.ok("oc", ["p": "/open/here", "d": nil])
      try await client.ok("o", ["p": "/open/end", "d": true])
      _ = try await staying.listen("/open/end")
      client.socket.abort()
      #expect(try await staying.push().body["d"] == true)
      #expect(try await staying.value("/open") == ["end": true, "here": 1])
    }
  }

  /// Clients that were lost together: their writes are in the log, as their process left them.
  @Test func `five thousand leases that end together are one commit`() async throws {
    let folder = try TemporaryFolder()
    // The present time: what is old would expire with a commit of its own.
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let clock = StoreClock(now: { .zero }, milliseconds: { now })
    let count = 5_000
    func open(term: UInt64) throws -> Store {
      var options = StoreOptions(term: term, clock: clock)
      options.allowsDropping = true
      return try Store(.folder(folder.path), shapes: [], options: options)
    }
    let before = try open(term: 1)
    await withCheckedContinuation { done in
      let operation = WriteOperation.series { transaction in
        for number in 0..<count {
          let body = Array(#"{"p": "/open/here/\#(number)", "a": null, "d": \#(number)}"#.utf8)
          _ = try transaction.deferWrite(body, of: "c:\(number)")
        }
      }
      before.commit(WriteRequest(operation)) { result in
        #expect((try? result.get()) != nil)
        done.resume()
      }
    }
    before.close()
    try await serve(folder, grace: .zero) { server in
      let client = try await TreePeer(port: server.port)
      while try await client.value("/open/here/0") == [:] { await Task.yield() }
      // A reader may see the commit before the loop has been given its changes.
      while try await Metrics.read(server)["martlet_feed_batches_total"] == 0 { await Task.yield() }
      #expect(try await Metrics.read(server)["martlet_feed_batches_total"] == 1)
    }
    // Nothing was left for a second commit.
    let after = try open(term: 2)
    let left = await withCheckedContinuation { done in
      let request = ReadRequest(
        read: { snapshot throws(StoreError) in
          (try snapshot.deferredOwners().count, try snapshot.tree.glimpse(at: ["open", "here", "4999"]))
        }, completion: { done.resume(returning: $0) })
      after.read([request], to: DirectDestination())
    }
    let (owners, last) = try left.get()
    #expect(owners == 0)
    #expect(last == .leaf(.int(4_999)))
    after.close()
  }
}
