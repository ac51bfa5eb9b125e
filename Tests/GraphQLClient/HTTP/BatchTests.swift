import Martlet
import MartletRuntime
import MartletSimulation
import Synchronization
import Testing

/// Counts.
private final class Numbers: Sendable {
  private let last = Mutex(0)
  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}

/// Queries that share a request, against a scripted peer.
@Suite struct BatchTests {
  private typealias Server = ScriptedHTTPServer

  /// Answers each query with its own document, in a list where it was asked by a list.
  private static func echo(_ request: Server.Request) -> Server.Reply {
    func answer(_ query: JSONValue) -> String {
      #"{"data":{"said":\#(String(describing: query["query"]?.string ?? "").debugDescription)}}"#
    }
    guard let list = request.body.array else { return .json(answer(request.body)) }
    return .json("[\(list.map(answer).joined(separator: ","))]")
  }

  /// Asks all at once; returns each answer.
  private func ask(_ client: GraphQLClient, _ documents: [String]) async -> [String] {
    await withTaskGroup(of: (Int, String).self) { group in
      for (index, document) in documents.enumerated() {
        group.addTask {
          do {
            return (index, try await client.query(document).data?["said"]?.string ?? "nothing")
          } catch let error as GraphQLClientError {
            return (index, "\(error.code)")
          } catch {
            return (index, "\(error)")
          }
        }
      }
      var told = [String](repeating: "", count: documents.count)
      for await (index, text) in group { told[index] = text }
      return told
    }
  }

  @Test func `queries that start together share a request, up to the limit, and each has its own answer`() throws {
    let server = Server { _, request in Self.echo(request) }
    let client = try server.client { $0.batching = BatchPolicy(operations: 3) }
    let documents = ["{ a }", "{ b }", "{ c }", "{ d }"]
    #expect(try server.executor.run { await ask(client, documents) } == documents)
    #expect(server.requests.map { $0.body.array?.count ?? 1 }.sorted() == [1, 3])
    #expect(server.requests.allSatisfy { $0.has("Content-Type: application/json") })
  }

  @Test func `without the setting each goes alone, and so does one that has no company`() throws {
    let server = Server { _, request in Self.echo(request) }
    let alone = try server.client()
    _ = try server.executor.run { await ask(alone, ["{ a }", "{ b }"]) }
    let lonely = try server.client { $0.batching = BatchPolicy() }
    #expect(try server.executor.run { await ask(lonely, ["{ c }"]) } == ["{ c }"])
    #expect(server.requests.allSatisfy { $0.body.array == nil } && server.requests.count == 3)
  }

  @Test func `mutations and answers in parts go alone`() throws {
    let server = Server { _, request in Self.echo(request) }
    let client = try server.client { $0.batching = BatchPolicy() }
    try server.executor.run {
      async let query = client.query("{ a }")
      async let deferred = client.query("{ b ... @defer { c } }")
      async let mutation = client.mutate("mutation { d }")
      _ = try await (query, deferred, mutation)
    }
    #expect(server.requests.count == 3 && server.requests.allSatisfy { $0.body.array == nil })
  }

  @Test func `a server that takes no lists is sent single queries, now and from then on`() throws {
    for refusal in [
      Server.Reply.json(#"{"errors":[{"message":"no batches"}]}"#, status: 400), .json(#"{"errors":[]}"#),
      .json("[{}]"),
    ] {
      let server = Server { _, request in request.body.array == nil ? Self.echo(request) : refusal }
      let client = try server.client { $0.batching = BatchPolicy() }
      let documents = ["{ a }", "{ b }"]
      #expect(try server.executor.run { await ask(client, documents) } == documents)
      #expect(try server.executor.run { await ask(client, documents) } == documents)
      #expect(server.requests.count { $0.body.array != nil } == 1)
    }
  }

  @Test func `one that fails fails alone, and what befalls the request befalls all of it`() throws {
    let mixed = Server { _, _ in .json(#"[{"data":{"said":"x"}},{"errors":[{"message":"no"}]}]"#) }
    let client = try mixed.client { $0.batching = BatchPolicy() }
    let told = try mixed.executor.run { await ask(client, ["{ a }", "{ b }"]) }
    #expect(told.sorted() == ["operationFailed", "x"])
    for (reply, code) in [
      (Server.Reply.cut, "connectionLost"), (.json("{}", status: 503), "invalidResponse"),
      (.answer(status: 503, type: "text/html", body: ""), "httpStatus"),
    ] {
      let server = Server { _, _ in reply }
      let client = try server.client { $0.batching = BatchPolicy() }
      #expect(try server.executor.run { await ask(client, ["{ a }", "{ b }"]) } == [code, code])
    }
  }

  @Test func `cancelling one caller keeps the shared request, cancelling the last aborts it`() throws {
    let server = Server { _, request in Self.echo(request) }
    let client = try server.client { $0.batching = BatchPolicy(wait: .seconds(1)) }
    let told = try server.executor.run {
      async let staying = ask(client, ["{ b }", "{ c }"])
      // Not a task of its own, which would leave the simulated executor.
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await client.query("{ a }") }
        await server.executor.sleep(.milliseconds(100))
        group.cancelAll()
      }
      return await staying
    }
    #expect(told == ["{ b }", "{ c }"])
    #expect(server.requests.map { $0.body.array?.count } == [2])
  }

  @Test func `other header fields are another request`() throws {
    let server = Server { _, request in Self.echo(request) }
    let numbers = Numbers()
    let client = try server.client {
      $0.batching = BatchPolicy()
      $0.credentials = { _ in .bearer("\(numbers.next() % 2)") }
    }
    let documents = ["{ a }", "{ b }", "{ c }", "{ d }"]
    #expect(try server.executor.run { await ask(client, documents) } == documents)
    #expect(server.requests.map { $0.body.array?.count } == [2, 2])
  }
}
