import Foundation
import MartletCommandLine
import MartletJSON
import MartletSQLite
import MartletServer
import Testing

@testable import MartletCommand

/// Records of apps that were built with Amplify.
@Suite(.timeLimit(.minutes(1))) struct AmplifyImportTests {
  private static func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("amplify-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private static func dynamo(_ text: String) throws -> [JSONObject] {
    var export = try DynamoExport(ByteSource(Array(text.utf8)))
    var rows: [JSONObject] = []
    while let row = try export.next() {
      if case .object(let object, _) = row { rows.append(object) }
    }
    return rows
  }

  @Test func `an export by lines and a scan have the same items, without those that were deleted`() throws {
    let items = [
      #"{"id":{"S":"a"},"n":{"N":"3"},"r":{"N":"1.5"},"b":{"BOOL":true},"x":{"NULL":true}}"#,
      #"{"id":{"S":"gone"},"_deleted":{"BOOL":true}}"#,
      #"{"id":{"S":"b"},"l":{"L":[{"S":"x"},{"N":"2"}]},"m":{"M":{"k":{"S":"v"}}},"s":{"SS":["p","q"]},"t":{"NS":["1","2"]}}"#,
    ]
    let expected: [JSONObject] = [
      ["id": "a", "n": 3, "r": 1.5, "b": true, "x": .null],
      ["id": "b", "l": ["x", 2], "m": ["k": "v"], "s": ["p", "q"], "t": [1, 2]],
    ]
    #expect(try Self.dynamo(items.map { #"{"Item":\#($0)}"# }.joined(separator: "\n") + "\n\n") == expected)
    #expect(try Self.dynamo("{\n \"Items\": [\(items.joined(separator: ",\n"))],\n \"Count\": 3 }") == expected)
    #expect(try Self.dynamo(#"{"Items":[],"Count":0}"#).isEmpty)
    // Parts of an export without items, and a line without one before the first.
    for text in ["", "\n", " \r\n\n"] { #expect(try Self.dynamo(text).isEmpty) }
    #expect(try Self.dynamo("\n" + #"{"Item":{"id":{"S":"a"}}}"#) == [["id": "a"]])
  }

  @Test(arguments: [
    (#"{"Item":{"id":{"Q":"a"}}}"#, "Item 1, attribute id: 'Q' is not a type"),
    (#"{"Item":{"id":{"N":"a"}}}"#, "'a' is not a number"),
    (#"{"Item":{"id":"a"}}"#, "not a value with its type"),
    (#"{"other":1}"#, "Line 1: there is no Item"),
    ("{", "neither DynamoDB JSON"),
    ("{\"Item\":{}}\nnonsense", "Line 2"),
    ("{\n\"Items\": 3 }", "neither an Item a line nor a list"),
  ])
  func `a file that is not an export is refused with the place`(text: String, part: String) throws {
    let failure = #expect(throws: CommandFailure.self) { _ = try Self.dynamo(text) }
    #expect(failure?.message.contains(part) == true, "\(String(describing: failure))")
  }

  private static let schema = """
    type Place { city: String! zip: Int }
    type Post @model {
      id: ID! title: String! rating: Float open: Boolean tags: [String] place: Place meta: AWSJSON blogID: ID
    }
    """

  /// What `martlet import` says, and the posts that the server has then.
  private static func imported(
    _ folder: URL, _ script: String, schema: String = schema
  ) async throws -> (run: ShellRun, posts: JSONValue) {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let run = try await ShellRun.bash(
      script.replacingOccurrences(of: "URL", with: "127.0.0.1:\(server.port)"), in: folder)
    let query = "{ listPosts { items { id title rating open tags place { city zip } meta blogID } } }"
    let found = try await ShellRun.bash("martlet query 127.0.0.1:\(server.port) '\(query)'", in: folder)
    await server.stop()
    let items = try JSONValue(parsing: found.output)["data"]?["listPosts"]?["items"]?.array ?? []
    return (run, .array(items.sorted { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }))
  }

  @Test func `the records of a device's DataStore are in the server's model, with what it had not sent`() async throws {
    try await Self.withFolder { folder in
      do {
        let database = try Database(path: folder.appendingPathComponent("AmplifyDatastore.db").path)
        try database.execute(
          """
          CREATE TABLE "Post"("id" text primary key not null, "title" text not null, "rating" real, "open" integer,
            "tags" text, "place" text, "meta" text, "postBlogId" text, "createdAt" text, "@@primaryKey" text);
          CREATE TABLE "Blog"("id" text primary key not null);
          CREATE TABLE MutationEvent(id text, modelName text);
          CREATE TABLE MutationSyncMetadata(id text);
          INSERT INTO Post VALUES('a', 'one', 4.5, 1, '["x","y"]', '{"city":"Bern","zip":3000}', '{"k":1}', 'b1',
            '2026-01-01T00:00:00.000Z', 'a');
          INSERT INTO Post VALUES('b', 'two', NULL, 0, NULL, NULL, NULL, NULL, NULL, 'b');
          INSERT INTO MutationEvent VALUES('m', 'Post'), ('n', 'Blog');
          """)
      }
      let (run, posts) = try await Self.imported(
        folder, "martlet import URL Post AmplifyDatastore.db --from amplify --map postBlogId=blogID")
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains("2 new"), "\(run.output)")
      #expect(run.errors.contains("1 change of Post had not been sent"), "\(run.errors)")
      #expect(
        posts == [
          [
            "id": "a", "title": "one", "rating": 4.5, "open": true, "tags": ["x", "y"],
            "place": ["city": "Bern", "zip": 3000], "meta": #"{"k":1}"#, "blogID": "b1",
          ],
          [
            "id": "b", "title": "two", "rating": .null, "open": false, "tags": .null, "place": .null, "meta": .null,
            "blogID": .null,
          ],
        ])
      let missing = try await Self.imported(folder, "martlet import URL Author AmplifyDatastore.db --from amplify")
      #expect(missing.run.errors.contains("has no table Author. It has: Blog, Post."), "\(missing.run.errors)")
    }
  }

  @Test func `a reference by several values is in the fields that are named for it, and is never left out silently`()
    async throws
  {
    let schema = """
      type Post @model { id: ID! title: String! blogName: String blogNumber: Int }
      """
    try await Self.withFolder { folder in
      do {
        let database = try Database(path: folder.appendingPathComponent("device.db").path)
        try database.execute(
          """
          CREATE TABLE "Post"("@@primaryKey" text, "id" text, "title" text, "@@blogForeignKey" text);
          INSERT INTO Post VALUES('a', 'a', 'one', '"x#y"#"7"'), ('b', 'b', 'two', NULL);
          """)
      }
      let server = try {
        var configuration = ServerConfiguration(schema: schema)
        configuration.access = .development
        configuration.log = .silent
        return try GraphQLServer(configuration)
      }()
      try server.start()
      let line = "martlet import 127.0.0.1:\(server.port) Post device.db --from amplify"
      for (option, part) in [
        ("", "refers to a record by several values"),
        ("--map '@@blogForeignKey=blogName'", "has 2 values, and --map names 1 field"),
        ("--map '@@blogForeignKey=blogName,none'", "no field 'none'"),
        ("--map '@@blogForeignKey=blogNumber,blogName'", "field blogNumber"),
      ] {
        let run = try await ShellRun.bash("\(line) \(option)", in: folder)
        #expect(run.status != 0 && run.errors.contains(part), "\(option): \(run.errors)")
      }
      let run = try await ShellRun.bash("\(line) --map '@@blogForeignKey=blogName,blogNumber'", in: folder)
      #expect(run.status == 0, "\(run.errors)")
      let query = #"{ a: getPost(id: "a") { blogName blogNumber } b: getPost(id: "b") { blogName } }"#
      let found = try await ShellRun.bash("martlet query 127.0.0.1:\(server.port) '\(query)'", in: folder)
      await server.stop()
      #expect(
        try JSONValue(parsing: found.output)["data"]
          == ["a": ["blogName": "x#y", "blogNumber": 7], "b": ["blogName": .null]])
    }
  }

  @Test func `a JSON text that AppSync has kept as text alone is one in the model`() throws {
    let type = InputType.named("AWSJSON", .scalar)
    for (stored, value): (JSONValue, JSONValue) in [
      ("plain", #""plain""#), (#"{"a":1}"#, #"{"a":1}"#), (["k": 1], #"{"k":1}"#), (5, "5"), (true, "true"),
      (.null, .null),
    ] { #expect(try AmplifyExport.value(stored, for: type) == value) }
  }

  @Test func `a JSON text within an embedded value, which AppSync keeps as what it stands for, is one in the model`()
    async throws
  {
    let schema = """
      type Inner { json: AWSJSON more: [Deep] }
      type Deep { json: [AWSJSON] on: Boolean }
      type Place { city: String! zip: Int }
      type Post @model {
        id: ID! title: String rating: Float open: Boolean tags: [String] place: Place meta: AWSJSON blogID: ID
        inner: Inner inners: [Inner]
      }
      """
    try await Self.withFolder { folder in
      let inner = """
        {"M":{"__typename":{"S":"Inner"},"json":{"M":{"k":{"N":"1"}}},"more":{"L":[{"M":{"json":{"L":[{"BOOL":true},\
        {"S":"plain"},{"S":"[1]"}]}}},{"NULL":true}]}}}
        """
      try Data(#"{"Item":{"id":{"S":"a"},"inner":\#(inner),"inners":{"L":[\#(inner)]}}}"#.utf8)
        .write(to: folder.appendingPathComponent("posts.json"))
      let query = "{ getPost(id: \"a\") { inner { json more { json on } } inners { json } } }"
      let line = "martlet import URL Post posts.json --from amplify"
      // The second time nothing differs from what the server has.
      let (run, _) = try await Self.imported(
        folder, "\(line) && \(line) && martlet query URL '\(query)'", schema: schema)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains("1 new") && run.output.contains("1 unchanged"), "\(run.output)")
      for part in [#""json":"{\"k\":1}""#, #"["true","\"plain\"","[1]"]"#] {
        #expect(run.output.filter { !$0.isWhitespace }.contains(part), "\(run.output)")
      }
    }
  }

  @Test func `an embedded value is taken without the names of its type and of those in it`() throws {
    let stored: JSONValue = [
      "lat": 1, "__typename": "Geo", "in": ["a": true, "__typename": "In"],
      "all": [["b": 2, "__typename": "In"], .null],
    ]
    #expect(
      try AmplifyExport.value(stored, for: .named("GeoInput", .inputObject))
        == ["lat": 1, "in": ["a": true], "all": [["b": 2], .null]])
  }

  @Test func `a versioned model takes an export again without a change, and a changed list in place of the one it had`()
    async throws
  {
    try await Self.withFolder { folder in
      func item(_ tag: String) -> Data {
        Data(#"{"Item":{"id":{"S":"a"},"title":{"S":"t"},"tags":{"L":[{"S":"\#(tag)"}]},"_version":{"N":"7"}}}"#.utf8)
      }
      try item("x").write(to: folder.appendingPathComponent("posts.json"))
      try item("y").write(to: folder.appendingPathComponent("changed.json"))
      let line = "martlet import URL Post posts.json --from amplify"
      let (run, posts) = try await Self.imported(
        folder, "\(line) && \(line) && martlet import URL Post changed.json --from amplify",
        schema: Self.schema.replacingOccurrences(of: "@model", with: "@model @versioned"))
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains("1 new") && run.output.contains("1 unchanged"), "\(run.output)")
      #expect(run.output.contains("1 changed"), "\(run.output)")
      #expect(posts[0]?["tags"] == ["y"], "\(posts)")
    }
  }

  @Test func `a DynamoDB export is in the server's model, and importing it again changes nothing`() async throws {
    try await Self.withFolder { folder in
      let item = """
        {"Item":{"id":{"S":"a"},"title":{"S":"one"},"rating":{"N":"4"},"open":{"BOOL":true},"tags":{"L":[{"S":"x"}]},\
        "place":{"M":{"city":{"S":"Bern"},"zip":{"N":"3000"}}},"meta":{"M":{"k":{"N":"1"}}},"_version":{"N":"2"},\
        "_lastChangedAt":{"N":"1700000000000"},"__typename":{"S":"Post"},"blogID":{"NULL":true}}}
        {"Item":{"id":{"S":"z"},"title":{"S":"gone"},"_deleted":{"BOOL":true},"_ttl":{"N":"1"}}}

        """
      try Data(item.utf8).write(to: folder.appendingPathComponent("posts.json"))
      let line = "martlet import URL Post posts.json --from amplify"
      let (run, posts) = try await Self.imported(folder, "\(line) && \(line)")
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.output.contains("1 new") && run.output.contains("1 unchanged"), "\(run.output)")
      #expect(
        posts == [
          [
            "id": "a", "title": "one", "rating": 4.0, "open": true, "tags": ["x"],
            "place": ["city": "Bern", "zip": 3000], "meta": #"{"k":1}"#, "blogID": .null,
          ]
        ])
    }
  }
}
