import MartletServer
import Testing

/// Endpoints of the program's own, in the server's table.
@Suite(.timeLimit(.minutes(1))) struct ProgramEndpointTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private struct Failure: Error {}

  private static func endpoints() throws -> [ServerEndpoint] {
    [
      try ServerEndpoint("/hello/{name...}", methods: ["GET", "POST"], bodyBytes: 10) { request, response in
        let text =
          "\(request.method) \(request.match) \(request.query ?? "-") \(request.header("x-word") ?? "-") "
          + "\(request.identity.subject ?? "-") \(String(decoding: request.body, as: UTF8.self))"
        await response.send(201, headers: [("X-Kind", "greeting")], body: Array(text.utf8))
      },
      try ServerEndpoint("/count", methods: ["GET", "HEAD"], access: .open) { _, response in
        await response.start(headers: [("Content-Type", "text/plain")])
        for number in 0..<200 {
          guard await response.write([UInt8](repeating: UInt8(ascii: "0") + UInt8(number % 10), count: 10_000)) else {
            return
          }
        }
        await response.finish()
      },
      try ServerEndpoint("/silent", access: .open) { _, _ in },
      try ServerEndpoint("/throws", access: .open) { _, _ in throw Failure() },
      try ServerEndpoint("/splits", access: .open) { _, response in
        await response.send(200, headers: [("X", "a\r\nSet-Cookie: b")])
      },
    ]
  }

  @Test func `an endpoint has the request's parts and its caller, after the server's own checks`() async throws {
    let endpoints = try Self.endpoints()
    let access = try Served.access("secret")
    try await Served.with(
      Self.schema,
      {
        $0.access = .keys(access)
        $0.endpoints = endpoints
      }
    ) { server in
      let port = server.port
      let key = ("x-api-key", "secret")
      let answer = try await HTTPRequest.send(
        "POST", "/hello/a/b?c=d", port: port, headers: [key, ("X-Word", "w")], body: "body")
      #expect(answer.status == 201 && answer.text == "POST a/b c=d w secret body", "\(answer.text)")
      #expect(answer.head.contains("\r\nX-Kind: greeting\r\n"))
      #expect(try await HTTPRequest.send("GET", "/hello/x", port: port).status == 401)
      #expect(try await HTTPRequest.send("PUT", "/hello/x", port: port, headers: [key], body: "").status == 405)
      let long = try await HTTPRequest.send(
        "POST", "/hello/x", port: port, headers: [key], body: "more than ten bytes")
      #expect(long.status == 413)
      #expect(try await HTTPRequest.send("GET", "/nowhere", port: port).text.contains("/hello/{name...}"))
    }
  }

  @Test func `the program is asked about callers of its own endpoints and of the console, and of no open one`()
    async throws
  {
    let endpoints = try Self.endpoints()
    try await Served.with(
      Self.schema,
      {
        $0.access = .onConnect()
        $0.endpoints = endpoints
        $0.onConnect = { request in
          guard let name = request.payload["authToken"]?.string else { return .refuse("not today") }
          return .accept(as: Identity(provider: .function, subject: name))
        }
      }
    ) { server in
      let ada = [("authToken", "ada")]
      for path in ["/hello/x", "/console/state"] {
        let refused = try await HTTPRequest.send("GET", path, port: server.port)
        #expect(refused.status == 403 && refused.text.contains("not today"), "\(path) \(refused.text)")
        let admitted = try await HTTPRequest.send("GET", path, port: server.port, headers: ada)
        #expect(!admitted.text.contains("not today"), "\(path) \(admitted.text)")
      }
      let answer = try await HTTPRequest.send("GET", "/hello/x", port: server.port, headers: ada)
      #expect(answer.text == "GET x - - ada ", "\(answer.text)")
      #expect(try await HTTPRequest.send("GET", "/count", port: server.port).status == 200)
    }
  }

  @Test func `a streamed answer arrives whole, and one that cannot be sent is 500`() async throws {
    let endpoints = try Self.endpoints()
    try await Served.with(Self.schema, { $0.endpoints = endpoints }) { server in
      let port = server.port
      let streamed = try await HTTPRequest.send("GET", "/count", port: port)
      #expect(streamed.status == 200 && streamed.body.count { $0 == UInt8(ascii: "7") } >= 200_000)
      #expect(try await HTTPRequest.send("HEAD", "/count", port: port).status == 200)
      for path in ["/silent", "/throws", "/splits"] {
        let answer = try await HTTPRequest.send("GET", path, port: port)
        #expect(answer.status == 500 && !answer.head.contains("Set-Cookie"), "\(path)")
      }
    }
  }

  @Test func `what cannot be a path or a method is refused by name`() {
    for path in ["hello", "/{a}", ""] {
      let error = #expect(throws: ServerError.self) { try ServerEndpoint(path) { _, _ in } }
      #expect(error?.code == .endpoint && error?.description.contains("\"\(path)\"") == true)
    }
    let error = #expect(throws: ServerError.self) { try ServerEndpoint("/a", methods: ["G T"]) { _, _ in } }
    #expect(error?.code == .endpoint)
  }
}
