import MartletJSON
import MartletRuntime
import MartletServer
import MartletStore
import MartletWire
import Testing

/// Takes what a read has found.
private final class Nowhere: StoreDestination {
  func deliver(_ delivery: StoreDelivery) { delivery.finish() }
}

/// The tree over HTTP: `/PATH.json` and its event streams.
@Suite struct TreeRESTTests {
  static let schema = "type Note @model { id: ID! }"
  /// Everything below `open`; posts by their owner's name, which is the key's.
  static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true, "number": {".validate": "newData.isNumber()"}, ".indexOn": ["age"]},
      "posts": {"$post": {".read": "auth != null", ".write": "auth.uid == $post"}}
    }}
    """

  private func serve(_ body: (Int) async throws -> Void) async throws {
    try await Served.with(Self.schema, { $0.treeRules = Self.rules }) { try await body($0.port) }
  }

  private func send(
    _ method: String, _ target: String, _ body: String? = nil, _ headers: [(String, String)] = [], port: Int
  ) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(method, target, port: port, headers: headers, body: body)
  }

  @Test func `values are put, merged, pushed, read and deleted`() async throws {
    try await serve { port in
      let empty = try await send("GET", "/open.json", port: port)
      #expect(empty.text == "null")
      // No cache gives the value to another caller, or an old one, without asking.
      #expect(empty.head.lowercased().contains("cache-control: no-cache"))
      let put = try await send("PUT", "/open/a.json", #"{"x": 1, "y": {"z": "t"}, "list": ["p", "q"]}"#, port: port)
      #expect(put.status == 200)
      #expect(put.json == ["x": 1, "y": ["z": "t"], "list": ["p", "q"]])
      #expect(try await send("PATCH", "/open/a.json", #"{"x": null, "y/w": 2}"#, port: port).status == 200)
      #expect(
        try await send("GET", "/open/a.json", port: port).json == ["list": ["p", "q"], "y": ["w": 2, "z": "t"]])
      let pushed = try await send("POST", "/open/log.json", #"{"at": {".sv": "timestamp"}}"#, port: port)
      let name = try #require(pushed.json["name"]?.string)
      #expect(name.utf8.count == 20)
      #expect(try await send("GET", "/open/log/\(name)/at.json", port: port).json.int ?? 0 > 1_000_000_000_000)
      #expect(try await send("DELETE", "/open/a/y.json", port: port).text == "null")
      #expect(try await send("GET", "/open/a.json", port: port).json == ["list": ["p", "q"]])
      #expect(try await send("PUT", "/open/a%20b/%C3%A9.json?print=silent", "1", port: port).status == 204)
      #expect(
        try await send("GET", "/open/a%20b/%C3%A9.json", port: port).text == "1")
      #expect(
        try await send("GET", "/open.json?shallow=true", port: port).json == ["a": true, "a b": true, "log": true])
      let increment = #"{".sv": {"increment": 2}}"#
      for _ in 0..<3 { _ = try await send("PUT", "/open/number.json", increment, port: port) }
      #expect(try await send("GET", "/open/number.json", port: port).text == "6")
    }
  }

  @Test func `the answer to a write has what server values became, and is indented on request`() async throws {
    try await serve { port in
      let increment = #"{"n": {".sv": {"increment": 2}}, "list": ["a"], "none": {}}"#
      #expect(try await send("PUT", "/open/s.json", increment, port: port).json == ["list": ["a"], "n": 2])
      let merge = #"{"n": {".sv": {"increment": 1}}, "list": null}"#
      #expect(try await send("PATCH", "/open/s.json", merge, port: port).json == ["list": nil, "n": 3])
      let put = try await send("PUT", "/open/s/at.json?print=pretty", #"{"x": {".sv": "timestamp"}}"#, port: port)
      #expect(put.json["x"]?.int ?? 0 > 1_000_000_000_000)
      #expect(put.text.hasPrefix("{\n  \"x\": 1"), "\(put.text)")
      _ = try await send("PUT", "/open/s.json?print=silent", #"{"a": [1, {"b": "c"}], "e": true}"#, port: port)
      let pretty = """
        {
          "a": [
            1,
            {
              "b": "c"
            }
          ],
          "e": true
        }

        """
      #expect(try await send("GET", "/open/s.json?print=pretty", port: port).text == pretty)
      #expect(try await send("GET", "/open/none.json?print=pretty&timeout=5s", port: port).text == "null\n")
    }
  }

  @Test func `a POST that names another method is that method, by header or by parameter`() async throws {
    try await serve { port in
      func post(_ target: String, _ body: String?, as method: String?) async throws -> HTTPRequest.Answer {
        try await send("POST", target, body, method.map { [("X-HTTP-Method-Override", $0)] } ?? [], port: port)
      }
      #expect(try await post("/open/o.json", #"{"a": 1, "b": 2}"#, as: "PUT").json == ["a": 1, "b": 2])
      #expect(try await post("/open/o.json", #"{"b": null, "c": 3}"#, as: "PATCH").status == 200)
      #expect(try await post("/open/o.json", "", as: "get").json == ["a": 1, "c": 3])
      #expect(try await post("/open/o.json?x-http-method-override=PATCH", #"{"d": 4}"#, as: nil).status == 200)
      #expect(try await send("GET", "/open/o.json", port: port).json == ["a": 1, "c": 3, "d": 4])
      #expect(try await post("/open/o/a.json", "", as: "DELETE").text == "null")
      #expect(try await post("/open/o/list.json", "5", as: "POST").json["name"]?.string?.utf8.count == 20)
      let other = try await post("/open/o.json", "1", as: "MERGE")
      #expect(other.status == 400)
      #expect(other.json["error"]?.string?.hasPrefix("X-HTTP-Method-Override is one of GET,") == true)
      // Another method than POST is what it says.
      let get = try await send("GET", "/open/o/c.json", nil, [("X-HTTP-Method-Override", "DELETE")], port: port)
      #expect(get.text == "3")
      #expect(try await send("GET", "/open/o/c.json", port: port).text == "3")
      // Rules judge the method that is meant.
      #expect(try await post("/posts/ada.json", "", as: "GET").status == 401)
    }
  }

  @Test func `a read that takes longer than its timeout is answered with 400, and once`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.store.readers = 1
      }
    ) { (server: GraphQLServer) async throws in
      let port = server.port
      #expect(try await send("PUT", "/open/a.json", "1", port: port).status == 200)
      let (begun, begins) = AsyncStream<Void>.makeStream()
      let free = Bell()
      // The only reader is busy with something else.
      let busy = ReadRequest(
        read: { _ in
          begins.finish()
          free.wait()
        }, completion: { (_: Result<Void, StoreError>) in })
      server.node.store.read([busy], to: Nowhere())
      defer { free.ring() }
      for await _ in begun {}
      let late = try await send("GET", "/open/a.json?timeout=50ms", port: port)
      #expect(late.status == 400)
      #expect(late.json["error"] == "The read did not end within its timeout.")
      free.ring()
      #expect(try await send("GET", "/open/a.json?timeout=50s", port: port).text == "1")
      #expect(try await send("GET", "/open/a.json?timeout=1min", port: port).text == "1")
    }
  }

  @Test func `a write that is estimated to take longer than its writeSizeLimit is refused, and changes nothing`()
    async throws
  {
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.estimatedLeaves = 2
      }
    ) { server in
      let port = server.port
      let twenty = "{" + (0..<20).map { "\"k\($0)\": \($0)" }.joined(separator: ",") + "}"
      func put(_ size: String, _ body: String = twenty) async throws -> HTTPRequest.Answer {
        try await send("PUT", "/open/a.json?writeSizeLimit=\(size)", body, port: port)
      }
      #expect(try await put("tiny", #"{"x": 1, "y": 2}"#).status == 200)
      let refused = try await put("tiny", #"{"x": 1, "y": 2, "z": 3}"#)
      #expect(refused.status == 400)
      #expect(refused.json["error"]?.string?.contains("writeSizeLimit") == true, "\(refused.text)")
      #expect(try await send("GET", "/open/a.json", port: port).json == ["x": 1, "y": 2])
      // Two leaves are deleted and twenty written.
      for size in ["medium", "large", "unlimited"] { #expect(try await put(size).status == 200, "\(size)") }
      // What is overwritten counts as well.
      #expect(try await put("small", "1").status == 400)
      #expect(try await send("DELETE", "/open/a.json?writeSizeLimit=small", port: port).status == 200)
      #expect(try await put("huge", "1").status == 400)
    }
  }

  @Test func `a body has the length of a write, whatever other requests may bring, and a longer one is refused`()
    async throws
  {
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = Self.rules
        ($0.limits.http.bodyBytes, $0.limits.http.uploadBytes, $0.limits.tree.writeBytes) = (1_000, 1_000, 2_000)
      }
    ) { server in
      let port = server.port
      let text = String(repeating: "x", count: 1_500)
      #expect(try await send("PUT", "/open/a.json", "\"\(text)\"", port: port).status == 200)
      let longer = try await send("PUT", "/open/a.json", "\"\(text + text)\"", port: port)
      #expect(longer.status == 413)
      #expect(longer.json["error"] == "/open/a: the body is larger than the limit writeBytes (2000)")
      #expect(try await send("GET", "/open/a.json", port: port).json == .string(text))
    }
  }

  @Test func `a shallow read of a large node reads its children and nothing below them`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.nodeLeaves = 20
      }
    ) { server in
      let port = server.port
      for name in ["a", "b"] {
        let leaves = (0..<15).map { "\"k\($0)\": \($0)" }.joined(separator: ",")
        #expect(try await send("PUT", "/open/n/\(name).json", "{\(leaves)}", port: port).status == 200)
      }
      #expect(try await send("PATCH", "/open/n.json", #"{"c": "text", "d": false}"#, port: port).status == 200)
      #expect(try await send("GET", "/open/n.json", port: port).status == 413)
      let shallow = try await send("GET", "/open/n.json?shallow=true", port: port)
      #expect(shallow.json == ["a": true, "b": true, "c": true, "d": true])
      #expect(try await send("GET", "/open/n/c.json?shallow=true", port: port).json == "text")
      #expect(try await send("GET", "/open/n/none.json?shallow=true", port: port).text == "null")
      #expect(try await send("GET", "/open/n/a.json?shallow=true", port: port).json.object?.count == 15)
      #expect(try await send("GET", "/open/n/a/k0.json?shallow=true", port: port).text == "0")
    }
  }

  @Test func `a query that finds nothing is answered with an object, a node that is not there with null`() async throws
  {
    try await serve { (port: Int) async throws in
      #expect(try await send("PUT", "/open/a.json", #"{"x": {"n": 1}}"#, port: port).status == 200)
      #expect(try await send("GET", #"/open/a.json?orderBy="n"&equalTo=2"#, port: port).text == "{}")
      #expect(try await send("GET", #"/open/a.json?orderBy="$key"&limitToFirst=1"#, port: port).json == ["x": ["n": 1]])
      #expect(try await send("GET", "/open/b.json", port: port).text == "null")
    }
  }

  @Test func `windows are read in their order`() async throws {
    try await serve { port in
      let people = #"{"ada": {"age": 36}, "bob": {"age": 20}, "eve": {"age": 28}}"#
      _ = try await send("PUT", "/open/people.json", people, port: port)
      let target = "/open/people.json?orderBy=%22age%22&startAt=25&limitToLast=1"
      #expect(try await send("GET", target, port: port).json == ["ada": ["age": 36]])
      let keys = "/open/people.json?orderBy=%22$key%22&endAt=%22c%22"
      #expect(try await send("GET", keys, port: port).json == ["ada": ["age": 36], "bob": ["age": 20]])
      let refused = try await send("GET", "/open/people.json?limitToFirst=1", port: port)
      #expect(refused.status == 400)
      #expect(refused.json == ["error": "orderBy must be defined when other query parameters are defined"])
    }
  }

  @Test func `conditions hold when a value is read and written`() async throws {
    try await serve { port in
      _ = try await send("PUT", "/open/c.json", "1", port: port)
      let read = try await send("GET", "/open/c.json", nil, [("X-Firebase-ETag", "true")], port: port)
      let line = try #require(read.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
      let tag = String(line.dropFirst(6))
      #expect(try await send("GET", "/open/c.json", nil, [("If-None-Match", tag)], port: port).status == 304)
      let written = try await send("PUT", "/open/c.json", "2", [("If-Match", tag)], port: port)
      #expect(written.status == 200)
      let stale = try await send("PUT", "/open/c.json", "3", [("If-Match", tag)], port: port)
      #expect(stale.head.hasPrefix("HTTP/1.1 412 Precondition Failed"))
      #expect(stale.text == "2")
      #expect(stale.head.contains("ETag: "))
      #expect(try await send("PUT", "/open/new.json", "1", [("If-Match", "null_etag")], port: port).status == 200)
      #expect(try await send("DELETE", "/open/new.json", nil, [("If-Match", "null_etag")], port: port).status == 412)
    }
  }

  @Test func `a conditional write is answered with the tag of what it has put, which is the condition of the next one`()
    async throws
  {
    func tag(_ answer: HTTPRequest.Answer) -> String? {
      answer.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }.map { String($0.dropFirst(6)) }
    }
    try await serve { port in
      var last = "null_etag"
      let bodies = ["1", #"{"a": [1, 2], "n": {".sv": {"increment": 2}}}"#, #"{".value": 3, ".priority": 1}"#]
      for body in bodies {
        let written = try await send("PUT", "/open/c.json", body, [("If-Match", last)], port: port)
        last = try #require(tag(written))
        let read = try await send("GET", "/open/c.json", nil, [("X-Firebase-ETag", "true")], port: port)
        #expect(tag(read) == last, "\(body)")
      }
      let silent = try await send("PUT", "/open/c.json?print=silent", "4", [("X-Firebase-ETag", "true")], port: port)
      #expect(silent.status == 204)
      let deleted = try await send("DELETE", "/open/c.json", nil, [("If-Match", try #require(tag(silent)))], port: port)
      #expect(tag(deleted) == "null_etag")
      // Without the question there is none.
      #expect(tag(try await send("PUT", "/open/c.json", "5", port: port)) == nil)
    }
  }

  @Test func `rules decide, and a refused write changes nothing`() async throws {
    try await serve { port in
      let denied = try await send("GET", "/other.json", port: port)
      #expect(denied.status == 401)
      #expect(denied.json == ["error": "Permission denied"])
      #expect(try await send("PUT", "/open/number.json", #""text""#, port: port).status == 401)
      #expect(try await send("PATCH", "/.json", #"{"open/x": 1, "other": 2}"#, port: port).status == 401)
      #expect(try await send("GET", "/open/x.json", port: port).text == "null")
      // In development the emulator's credential is an administrator.
      let owner = [("Authorization", "Bearer owner")]
      #expect(try await send("PUT", "/other.json", "5", owner, port: port).status == 200)
      #expect(try await send("GET", "/.json", nil, owner, port: port).json == ["other": 5])
    }
  }

  @Test func `a key's name is the user that rules see`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.treeRules = Self.rules
        $0.access = .keys(try Served.access("ada", "bob"))
      }
    ) { (server: GraphQLServer) async throws in
      let (ada, bob) = ([("Authorization", "Bearer ada")], [("Authorization", "Bearer bob")])
      #expect(try await send("PUT", "/posts/ada.json", "1", ada, port: server.port).status == 200)
      #expect(try await send("PUT", "/posts/ada.json", "2", bob, port: server.port).status == 401)
      #expect(try await send("GET", "/posts/ada.json", nil, bob, port: server.port).text == "1")
      #expect(try await send("GET", "/open.json", port: server.port).status == 401)
    }
  }

  @Test func `bad input is refused with its reason`() async throws {
    try await serve { port in
      let table: [(String, String, String?, Int, String)] = [
        ("PUT", "/open/a.json", "{", 400, "Invalid data; couldn't parse JSON object"),
        ("PUT", "/open/a.json", #"{"a.b": 1}"#, 400, "Invalid data; /open/a: a key contains"),
        ("PATCH", "/open/a.json", "1", 400, "Invalid data; the body of PATCH is a JSON object"),
        ("PATCH", "/open/a.json", #"{"x": 1, "x/y": 2}"#, 400, "Invalid data; /open/a/x/y: one path of the merge"),
        ("GET", "/open/%zz.json", nil, 400, "% is not followed by two hexadecimal digits"),
        ("GET", "/open/a$.json", nil, 400, "/open: a key contains"),
        ("PUT", "/open/a.json", #"{".sv": "nothing"}"#, 400, "Invalid data; /open/a: a .sv is"),
        ("PUT", "/open/a.json", #"{".sv": "timestamp", "x": 1}"#, 400, "Invalid data; /open/a: a .sv is"),
        ("PUT", "/open/a.json", #"{"k": {".value": 1, "x": 1}}"#, 400, "Invalid data; /open/a/k: a .value is"),
        ("PUT", "/open/a.json", #"{".priority": [1], "x": 1}"#, 400, "Invalid data; /open/a: a priority is"),
        ("PUT", "/open/a.json", "", 400, "Invalid data; couldn't parse JSON object"),
        ("GET", "/open/a.json?timeout=soon", nil, 400, "timeout is a number"),
        ("GET", "/open/a.json?print=loud", nil, 400, "print is pretty or silent"),
      ]
      for (method, target, body, status, error) in table {
        let answer = try await send(method, target, body, port: port)
        #expect(answer.status == status, "\(method) \(target)")
        #expect(answer.json["error"]?.string?.hasPrefix(error) == true, "\(method) \(target): \(answer.text)")
      }
      #expect(try await send("GET", "/open.json", port: port).text == "null")
    }
  }

  @Test func `an event stream shows the value, then each transaction as one event`() async throws {
    try await serve { port in
      _ = try await send("PUT", "/open/s.json", #"{"a": 1}"#, port: port)
      let head = HTTPRequestHead(
        method: "GET", target: "/open/s.json",
        headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream")]))
      let stream = try await StreamedResponse.send(head, body: nil, readingEvents: true, port: port)
      func event() async throws -> [JSONValue] {
        let last = await stream.heard { if case .event = $0 { true } else { false } }.last
        guard case .event(let event) = last else { return [] }
        return [.string(event.name), try JSONValue(parsing: event.data)]
      }
      let opening = await stream.heard { if case .head = $0 { true } else { false } }.last
      // Without the charset, firebase-admin takes the text for Latin-1.
      #expect(opening == .head(status: 200, contentType: "text/event-stream; charset=utf-8"))
      #expect(try await event() == ["put", ["path": "/", "data": ["a": 1]]])
      _ = try await send("PUT", "/open/s/b/c.json", "2", port: port)
      #expect(try await event() == ["put", ["path": "/b/c", "data": 2]])
      _ = try await send("PATCH", "/open.json", #"{"s/a": null, "s/d": 3, "elsewhere": 1}"#, port: port)
      #expect(try await event() == ["patch", ["path": "/", "data": ["a": nil, "d": 3]]])
      _ = try await send("DELETE", "/open.json", port: port)
      #expect(try await event() == ["put", ["path": "/", "data": nil]])
    }
  }

  @Test func `the tree survives a restart`() async throws {
    let folder = try TemporaryFolder()
    for round in 0..<2 {
      try await Served.with(
        Self.schema,
        {
          $0.treeRules = Self.rules
          $0.data = .folder(folder.path)
        }
      ) { (server: GraphQLServer) async throws in
        if round == 0 {
          _ = try await send("PUT", "/open/kept.json", #"{"x": [1, 2]}"#, port: server.port)
        } else {
          #expect(try await send("GET", "/open/kept.json", port: server.port).json == ["x": [1, 2]])
        }
      }
    }
  }

  @Test func `without rules no tree is served, and rules that cannot be used refuse the start`() async throws {
    try await Served.with(Self.schema) { (server: GraphQLServer) async throws in
      #expect(try await send("GET", "/open.json", port: server.port).status == 404)
    }
    await #expect(throws: ServerError.self) {
      try await Served.with(Self.schema, { $0.treeRules = #"{"rules": {".read": "skies"}}"# }) { _ in }
    }
  }
}
