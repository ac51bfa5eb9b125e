import Foundation
import MartletConsole
import MartletJSON
import MartletServer
import Testing

/// The console and the page at `/`, by the requests that a browser makes. Tests/Console has the browser.
@Suite(.timeLimit(.minutes(1))) struct ConsoleTests {
  private static let schema = "type Note @model { id: ID! text: String rank: Int }"
  private static let html = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")

  @Test func `the page at the root names what is served and how to connect`() async throws {
    try await Served.with(Self.schema) { server in
      let page = try await HTTPRequest.send("GET", "/", port: server.port, headers: [Self.html])
      #expect(page.status == 200 && page.head.contains("Content-Type: text/html; charset=utf-8"))
      for part in ["/graphql/stream", "onCreateNote", "Note", "http://127.0.0.1:\(server.port)/graphql", "/console"] {
        #expect(page.text.contains(part), "the page lacks \(part)")
      }
      #expect(!page.text.contains("{{"))
      let text = try await HTTPRequest.send("GET", "/", port: server.port, headers: [("Accept", "*/*")])
      #expect(text.status == 200 && text.head.contains("text/plain") && text.text.contains("/graphql"))
      let head = try await HTTPRequest.send("HEAD", "/", port: server.port, headers: [Self.html])
      #expect(head.status == 200 && head.body.isEmpty)
    }
  }

  @Test func `the page at the root says what each of the server's paths is for, and which are the program's own`()
    async throws
  {
    let own = try ServerEndpoint("/own", access: .open) { _, _ in }
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = #"{"rules": {".read": true}}"#
        $0.endpoints = [own]
      }
    ) { server in
      let page = try await HTTPRequest.send("GET", "/", port: server.port, headers: [Self.html]).text
      #expect(page.contains("<dt>/.ws</dt><dd>the synced tree over WebSocket</dd>"))
      #expect(page.contains("<dt>/own</dt><dd>an endpoint of this program</dd>"))
      #expect(page.components(separatedBy: "an endpoint of this program").count == 2, "\(page)")
      #expect(!page.contains("/console/state"))
    }
  }

  @Test func `a program's own endpoint at the root takes the page's place`() async throws {
    let own = try ServerEndpoint("/", access: .open) { _, response in await response.send(200, body: Array("own".utf8))
    }
    try await Served.with(Self.schema, { $0.endpoints = [own] }) { server in
      let answer = try await HTTPRequest.send("GET", "/", port: server.port, headers: [Self.html])
      #expect(answer.text == "own")
    }
  }

  @Test func `the console's files allow no script or style from elsewhere`() async throws {
    try await Served.with(Self.schema) { server in
      for path in ["/console", "/console/main.js", "/console/theme.css", "/console/martlet.svg"] {
        let answer = try await HTTPRequest.send("GET", path, port: server.port)
        #expect(answer.status == 200, "\(path)")
        #expect(answer.head.contains("Content-Security-Policy: default-src 'none'; script-src 'self'"), "\(path)")
        #expect(answer.head.contains("X-Content-Type-Options: nosniff"), "\(path)")
        #expect(!answer.text.contains("style=\"") && !answer.text.contains("onclick=\""), "\(path)")
      }
      for path in ["/console/page.html", "/console/nothing.js", "/console/../secret"] {
        #expect(try await HTTPRequest.send("GET", path, port: server.port).status == 404, "\(path)")
      }
      let foreign = try await HTTPRequest.send("GET", "/console", port: server.port, host: "evil.example")
      #expect(foreign.status == 403)
    }
  }

  @Test func `the state has the load and the changes after an offset`() async throws {
    try await Served.with(Self.schema) { server in
      for rank in 1...3 {
        try await server.transaction {
          _ = try $0.create("Note", ["id": .string("n\(rank)"), "text": "t", "rank": .int(Int64(rank))])
        }
      }
      try await server.transaction { _ = try $0.update("Note", ["id": "n1", "rank": 9]) }
      let all = try await HTTPRequest.send("GET", "/console/state", port: server.port).json
      let changes = try #require(all["changes"]?.array)
      #expect(changes.count == 4 && all["isCut"]?.bool == false)
      #expect(changes.last?["kind"]?.string == "update" && changes.last?["of"]?.string == "Note")
      #expect(changes.last?["key"] == ["id": "n1"] && changes.last?["values"]?["rank"] == 9)
      #expect(changes.last?["values"]?["text"] == nil)
      let head = try #require(all["server"]?["head"]?.int)
      #expect(changes.last?["offset"]?.int == head)
      let later = try await HTTPRequest.send("GET", "/console/state?after=\(head - 1)", port: server.port).json
      #expect(later["changes"]?.array?.count == 1)
      let none = try await HTTPRequest.send("GET", "/console/state?after=\(head)", port: server.port).json
      #expect(none["changes"]?.array?.isEmpty == true && (none["gauges"]?["connections"]?.int ?? 0) > 0)
    }
  }

  @Test func `more changes than one answer takes are said to be cut`() async throws {
    try await Served.with(Self.schema, { $0.limits.console.changes = 12 }) { server in
      try await server.transaction { transaction in
        for number in 0..<17 {
          try transaction.create("Note", ["id": .string("n\(number)")])
        }
      }
      let state = try await HTTPRequest.send("GET", "/console/state?after=0", port: server.port).json
      #expect(state["changes"]?.array?.count == 12 && state["isCut"]?.bool == true)
    }
  }

  @Test func `with keys, the console is for servers that allow introspection, and shows no changes`() async throws {
    let access = try Served.access("secret")
    let key = ("x-api-key", "secret")
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      #expect(try await HTTPRequest.send("GET", "/console", port: server.port).status == 404)
      #expect(try await HTTPRequest.send("GET", "/console/state", port: server.port).status == 401)
      #expect(try await HTTPRequest.send("GET", "/console/state", port: server.port, headers: [key]).status == 403)
      let page = try await HTTPRequest.send("GET", "/", port: server.port, headers: [Self.html])
      #expect(page.status == 200 && !page.text.contains("Note") && !page.text.contains("Open the console"))
    }
    try await Served.with(
      Self.schema,
      {
        $0.access = .keys(access)
        $0.allowsIntrospection = true
      }
    ) { server in
      try await server.transaction { _ = try $0.create("Note", ["id": "n"]) }
      #expect(try await HTTPRequest.send("GET", "/console", port: server.port).status == 200)
      #expect(try await HTTPRequest.send("GET", "/console/state", port: server.port).status == 401)
      let state = try await HTTPRequest.send("GET", "/console/state", port: server.port, headers: [key])
      #expect(state.status == 200 && state.json["changes"] == nil && state.json["gauges"] != nil)
    }
  }

  @Test func `a host that is not plain text is not copied into the page`() async throws {
    let access = try Served.access("secret")
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let page = try await HTTPRequest.send(
        "GET", "/", port: server.port, host: "a\"><script>", headers: [Self.html])
      #expect(!page.text.contains("<script>"))
    }
  }

  @Test func `the console's files are those of the Assets folder`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder = root.appendingPathComponent("Sources/Console/Assets")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(ConsoleAsset.all.map(\.name).sorted() == names, "run Scripts/embed-console")
    for asset in ConsoleAsset.all {
      let file = try Data(contentsOf: folder.appendingPathComponent(asset.name))
      #expect(asset.bytes == Array(file), "\(asset.name) differs; run Scripts/embed-console")
    }
  }

  @Test func `all files of the console stay under 150 kB`() {
    #expect(ConsoleAsset.all.map(\.bytes.count).reduce(0, +) < 150_000)
    #expect(ConsoleAsset.all.count > 10)
  }
}
