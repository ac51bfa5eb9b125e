import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import Testing

/// Queries and mutations by HTTP against a scripted peer.
@Suite struct HTTPRequestTests {
  private static let fine = ScriptedHTTPServer.Reply.json(#"{"data":{"n":1}}"#)

  @Test func `requests follow the rules of GraphQL over HTTP and share a kept connection`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client()
    try server.executor.run {
      for number in 1...3 {
        let answer = try await client.query(
          "query Q($n: Int) { n }", variables: ["n": .int(Int64(number))], operationName: "Q")
        #expect(answer.data?["n"] == 1)
      }
    }
    let first = try #require(server.requests.first)
    #expect(first.head.hasPrefix("POST /graphql?v=1 HTTP/1.1\r\n"))
    #expect(first.has("Host: server.test"))
    #expect(first.has("Content-Type: application/json"))
    #expect(first.has("Accept: application/graphql-response+json, application/json;q=0.9"))
    #expect(first.body == ["query": "query Q($n: Int) { n }", "operationName": "Q", "variables": ["n": 1]])
    #expect(server.requests.count == 3)
    #expect(server.connections == 1)
    #expect(server.executor.foreignEnqueues == 0)
  }

  @Test func `IAM keys sign a request by what is sent`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let keys = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    let client = try server.client {
      $0.dialect = .appSync
      $0.appSync.region = "eu-west-1"
      $0.credentials = { _ in .iam(keys) }
    }
    try server.executor.run { _ = try await client.query("{ n }") }
    let request = try #require(server.requests.first)
    #expect(request.has("x-amz-date: 19700101T000000Z") && request.has("Host: server.test"))
    #expect(request.text == #"{"query":"{ n }"}"#)
    // Computed apart from this package.
    #expect(
      request.has(
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/19700101/eu-west-1/appsync/aws4_request, "
          + "SignedHeaders=content-type;host;x-amz-date, Signature=0da98a224fd03ef49f68f1faa65632a3de37f60ae8088a72796e3f637db96214"
      ))
  }

  @Test func `at most so many connections are opened, others wait, and more are refused by type`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client {
      $0.httpConnections = 2
      $0.waitingRequests = 3
    }
    let codes = try server.executor.run {
      await withTaskGroup(of: String.self) { group in
        for _ in 1...8 {
          group.addTask {
            do {
              _ = try await client.query("{ n }")
              return "fine"
            } catch { return (error as? GraphQLClientError)?.code.description ?? "other" }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(server.connections == 2)
    #expect(codes.filter { $0 == "fine" }.count == 5)
    #expect(codes.filter { $0 == "overloaded" }.count == 3)
  }

  @Test func `an unused connection is closed after its time`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client { $0.httpIdleTimeout = .seconds(2) }
    try server.executor.run { _ = try await client.query("{ n }") }
    #expect(server.network.links.count == 1)
    server.executor.run(for: .seconds(3))
    #expect(server.network.links.isEmpty)
    try server.executor.run { _ = try await client.query("{ n }") }
    #expect(server.connections == 2)
  }

  @Test func `credentials are asked for at every request, and once more after a 401`() throws {
    let server = ScriptedHTTPServer { _, request in
      request.has("Authorization: Bearer good") ? Self.fine : .json(#"{"errors":[{"message":"who?"}]}"#, status: 401)
    }
    let asked = Recorder<String>()
    let client = try server.client {
      $0.credentials = { reason in
        asked.add("\(reason)")
        return .bearer(reason.isRefusal ? "good" : "old")
      }
    }
    try server.executor.run {
      _ = try await client.query("{ n }")
      _ = try await client.query("{ n }")
    }
    #expect(asked.all == ["request", "refused(code: 401)", "request", "refused(code: 401)"])
    #expect(server.requests.count == 4)
  }

  @Test(arguments: [401, 403], [ResendKind.query, .mutation])
  func `a request whose credentials are refused is sent once more with others, and executed once`(
    status: Int, kind: ResendKind
  ) throws {
    let server = ScriptedHTTPServer { _, request in
      request.has("Authorization: Bearer good") ? Self.fine : .json(#"{"errors":[{"message":"who?"}]}"#, status: status)
    }
    let asked = Recorder<String>()
    let client = try server.client {
      $0.credentials = { reason in
        asked.add("\(reason)")
        return .bearer(reason.isRefusal ? "good" : "old")
      }
    }
    try server.executor.run {
      if kind == .query {
        _ = try await client.query("{ n }")
      } else {
        _ = try await client.mutate("mutation { n }")
      }
    }
    #expect(asked.all == ["request", "refused(code: \(status))"] && server.requests.count == 2)
  }

  @Test func `what a caller may not do stays its answer after one renewal, and without a provider at once`() throws {
    let refusal = #"{"errors":[{"message":"not yours","extensions":{"code":"FORBIDDEN"}}]}"#
    let server = ScriptedHTTPServer { _, _ in .json(refusal, status: 403) }
    let client = try server.client { $0.credentials = { _ in .bearer("any") } }
    let error = try server.executor.failure { _ = try await client.query("{ n }") }
    #expect(error?.code == .operationFailed && error?.message == "not yours" && server.requests.count == 2)
    let open = try server.client()
    #expect(try server.executor.failure { _ = try await open.query("{ n }") }?.code == .operationFailed)
    #expect(server.requests.count == 3)
  }

  @Test func `a mutation that was executed is not sent again, whatever its status`() throws {
    let server = ScriptedHTTPServer { _, _ in .json(#"{"data":{"n":1}}"#, status: 403) }
    let client = try server.client { $0.credentials = { _ in .bearer("any") } }
    let result = try server.executor.run { try await client.mutate("mutation { n }") }
    #expect(result.data?["n"] == 1 && server.requests.count == 1)
  }

  @Test func `a second refusal is final`() throws {
    let server = ScriptedHTTPServer { _, _ in
      .answer(status: 401, type: "application/json", body: #"{"errors":[{"message":"who?"}]}"#)
    }
    let client = try server.client { $0.credentials = { _ in .bearer("bad") } }
    let error = try server.executor.failure { _ = try await client.query("{ n }") }
    #expect(error?.code == .unauthorized)
    #expect(error?.status == 401)
    #expect(error?.message == "who?")
    #expect(server.requests.count == 2)
    let open = try server.client()
    #expect(try server.executor.failure { _ = try await open.query("{ n }") }?.code == .unauthorized)
    #expect(server.requests.count == 3)
  }

  @Test func `an answer may be as long as the setting says, also beyond 16 MiB`() throws {
    let text = String(repeating: "x", count: 17 << 20)
    let server = ScriptedHTTPServer { _, _ in .json("{\"data\":{\"text\":\"\(text)\"}}") }
    let client = try server.client { $0.messageBytes = 20 << 20 }
    let answer = try server.executor.run { try await client.query("{ text }") }
    #expect(answer.data?["text"]?.string?.utf8.count == 17 << 20)
  }

  @Test func `a media type decides whether a body is a response`() throws {
    let ours = "application/graphql-response+json"
    let cases: [(Int, String, String, String)] = [
      (200, ours, #"{"data":{"n":1}}"#, "data"),
      (200, "application/json; charset=utf-8", #"{"data":{"n":1}}"#, "data"),
      (500, ours, #"{"data":{"n":1},"errors":[{"message":"partly"}]}"#, "data"),
      (400, ours, #"{"errors":[{"message":"bad"}]}"#, "operationFailed"),
      (200, "application/json", #"{"errors":[{"message":"bad"}]}"#, "operationFailed"),
      (400, "application/json", #"{"data":{"n":1}}"#, "httpStatus"),
      (502, "text/html", "<p>", "httpStatus"),
      (200, "text/html", "<p>", "invalidResponse"),
      (200, ours, "{", "invalidResponse"),
      (200, ours, "{}", "invalidResponse"),
    ]
    for (status, type, body, expected) in cases {
      let server = ScriptedHTTPServer { _, _ in .answer(status: status, type: type, body: body) }
      let client = try server.client()
      let error = try server.executor.failure { _ = try await client.query("{ n }") }
      #expect(error?.code.description ?? "data" == expected, "\(status) \(type) \(body)")
      if let error { #expect(error.status == status) }
    }
  }

  @Test func `a mutation answered by a proxy that lost its server has an unknown outcome`() throws {
    for (status, expected) in [
      (502, "outcomeUnknown"), (504, "outcomeUnknown"), (500, "outcomeUnknown"), (520, "outcomeUnknown"),
      (503, "httpStatus"), (501, "httpStatus"), (404, "httpStatus"),
    ] {
      let server = ScriptedHTTPServer { _, _ in .answer(status: status, type: "text/html", body: "<p>") }
      let client = try server.client()
      let error = try server.executor.failure { _ = try await client.mutate("mutation { n }") }
      #expect(error?.code.description == expected, "\(status)")
      #expect(error?.status == status)
      #expect(server.requests.count == 1)
    }
  }

  @Test func `partial data is a value and a refused request is an error with what the server said`() throws {
    let server = ScriptedHTTPServer { number, _ in
      number == 1
        ? .json(#"{"data":{"n":null},"errors":[{"message":"no n","path":["n"]}],"extensions":{"took":3}}"#)
        : .json(#"{"errors":[{"message":"Unknown field."}]}"#, status: 400)
    }
    let client = try server.client()
    let partial = try server.executor.run { try await client.query("{ n }") }
    #expect(partial.data == ["n": .null])
    #expect(partial.errors.first?["message"] == "no n")
    #expect(partial.extensions["took"] == 3)
    let error = try server.executor.failure { _ = try await client.query("{ m }") }
    #expect(error?.message == "Unknown field.")
    #expect(error?.errors.count == 1)
  }

  @Test func `a response over the limit is refused, with a declared length or in chunks`() throws {
    let long = String(repeating: "x", count: 2_000)
    for reply in [
      ScriptedHTTPServer.Reply.json(long),
      .bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n\(long)\r\n0\r\n\r\n"),
    ] {
      let server = ScriptedHTTPServer { _, _ in reply }
      let client = try server.client { $0.messageBytes = 1_000 }
      #expect(try server.executor.failure { _ = try await client.query("{ n }") }?.code == .responseTooLarge)
      server.executor.run(for: .seconds(1))
      #expect(server.network.links.isEmpty)
    }
  }

  @Test func `silence ends at the deadline, for a mutation with an unknown outcome`() throws {
    let server = ScriptedHTTPServer { _, _ in .silence }
    let client = try server.client { $0.requestTimeout = .seconds(5) }
    #expect(try server.executor.failure { _ = try await client.query("{ n }") }?.code == .timeout)
    #expect(try server.executor.failure { try await client.mutate("mutation { n }") }?.code == .outcomeUnknown)
    #expect(server.executor.now.nanoseconds > 9_900_000_000)
    #expect(server.requests.count == 2)
    server.executor.run(for: .seconds(1))
    #expect(server.network.links.isEmpty)
  }

  @Test func `cancelling the task takes the request back`() throws {
    let server = ScriptedHTTPServer { _, _ in .silence }
    let client = try server.client()
    let spawned = server.executor.spawner.spawn { _ = try? await client.query("{ n }") }
    server.executor.run(for: .seconds(1))
    #expect(server.requests.count == 1)
    spawned.cancel()
    server.executor.run(for: .seconds(1))
    #expect(server.network.links.isEmpty)
  }

  @Test func `headers that would break the framing are refused by name, never by value`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    for (name, value) in [("X-Key", "secret\r\nX: 1"), ("Content-Length", "4"), ("a b", "c")] {
      let client = try server.client { $0.headers = [(name: name, value: value)] }
      let error = try #require(try server.executor.failure { _ = try await client.query("{ n }") })
      #expect(error.code == .invalidRequest)
      #expect(!error.message.contains("secret"))
      let stream = client.subscribe("subscription { n }")
      server.executor.run(for: .seconds(1))
      #expect(stream.state.description == "pending")
    }
    #expect(server.requests.isEmpty)
  }
}

/// What happened, in order.
///
/// `@unchecked Sendable` because the elements are touched under the lock only.
final class Recorder<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var elements: [Element] = []
  func add(_ element: Element) { lock.withLock { elements.append(element) } }
  var all: [Element] { lock.withLock { elements } }
}
