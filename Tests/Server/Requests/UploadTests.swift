import MartletJSON
import MartletServer
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Files beside operations, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct UploadTests {
  private static let schema = """
    scalar Upload
    type Note @model { id: ID! }
    type Mutation { describe(file: Upload, files: [Upload!]): String }
    """

  private static func describe(_ configuration: inout ServerConfiguration) {
    configuration.resolvers = { resolvers in
      resolvers.resolve("Mutation", "describe") { request in
        let given = (request.arguments["files"]?.array ?? []) + [request.arguments["file"]].compactMap { $0 }
        var lines: [String] = []
        for value in given {
          let file = try Upload(value)
          lines.append("\(file.filename) \(file.mediaType) \(file.bytes.count)")
        }
        return lines.joined(separator: ", ")
      }
    }
  }

  private func send(_ body: [UInt8], port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "POST", "/graphql", port: port, headers: [("Content-Type", MultipartRequest.contentType(boundary: "xx"))],
      body: String(decoding: body, as: UTF8.self))
  }

  private func body(_ attachments: [(String, UploadedFile)], _ operations: String) -> [UInt8] {
    MultipartRequest.body(
      operations: Array(operations.utf8), attachments: attachments.map { .init(path: $0.0, file: $0.1) },
      boundary: "xx")
  }

  private let one = #"{"query":"mutation ($f: Upload) { describe(file: $f) }","variables":{"f":null}}"#

  @Test func `a resolver gets the files that came with its operation`() async throws {
    try await Served.with(Self.schema, Self.describe) { server in
      let file = UploadedFile(name: "a.txt", mediaType: "text/plain", bytes: Array("hello".utf8))
      let answer = try await send(body([("variables.f", file)], one), port: server.port)
      #expect(answer.status == 200)
      #expect(answer.json["data"]?["describe"] == "a.txt text/plain 5")
      let many = #"{"query":"mutation ($l: [Upload!]) { describe(files: $l) }","variables":{"l":[null,null]}}"#
      let other = UploadedFile(name: "b", mediaType: "image/png", bytes: [])
      let list = try await send(body([("variables.l.1", file), ("variables.l.0", other)], many), port: server.port)
      #expect(list.json["data"]?["describe"] == "b image/png 0, a.txt text/plain 5")
    }
  }

  @Test func `uploads may be larger than other bodies, up to their own limit`() async throws {
    try await Served.with(
      Self.schema,
      {
        Self.describe(&$0)
        $0.limits.http.bodyBytes = 1_000
        $0.limits.http.uploadBytes = 5_000
      }
    ) { server in
      func file(_ count: Int) -> UploadedFile {
        UploadedFile(name: "f", mediaType: "text/plain", bytes: [UInt8](repeating: 0x61, count: count))
      }
      let fits = try await send(body([("variables.f", file(4_000))], one), port: server.port)
      #expect(fits.json["data"]?["describe"] == "f text/plain 4000")
      #expect(try await send(body([("variables.f", file(6_000))], one), port: server.port).status == 413)
      let json = #"{"query":"{ __typename }","x":"\#(String(repeating: "x", count: 2_000))"}"#
      let type = ("Content-Type", "application/json")
      #expect(
        try await HTTPRequest.send("POST", "/graphql", port: server.port, headers: [type], body: json).status == 413)
      let chunked = try await HTTPRequest.raw(
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
          + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
          + "\(String(json.utf8.count, radix: 16))\r\n\(json)\r\n0\r\n\r\n",
        port: server.port)
      #expect(chunked.status == 413)
    }
  }

  @Test func `a broken upload is refused, logged once and counted`() async throws {
    let log = LogRecorder()
    try await Served.with(
      Self.schema,
      {
        Self.describe(&$0)
        $0.log = log.log
      }
    ) { server in
      let file = UploadedFile(name: "f", mediaType: "text/plain", bytes: [1])
      let wrongPath = try await send(body([("variables.g", file)], one), port: server.port)
      #expect(wrongPath.status == 400)
      #expect(wrongPath.json["errors"]?[0]?["extensions"]?["code"] == "INVALID_UPLOAD")
      let cut = try await send(Array(body([("variables.f", file)], one).dropLast(8)), port: server.port)
      #expect(cut.status == 400)
      let boundary = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Content-Type", "multipart/form-data")],
        body: "x")
      #expect(boundary.status == 400)
      #expect(log.count(of: LogRecorder.violation) == 3)
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port)
      #expect(metrics.text.contains("protocol_errors_total 3\n"))
    }
  }

  @Test func `a page of another origin cannot upload`() async throws {
    try await Served.with(Self.schema, Self.describe) { server in
      let body = body([], #"{"query":"{ __typename }"}"#)
      let answer = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port,
        headers: [("Content-Type", "multipart/form-data; boundary=xx"), ("Origin", "https://evil.example")],
        body: String(decoding: body, as: UTF8.self))
      #expect(answer.status == 403)
    }
  }
}
