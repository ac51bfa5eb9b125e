import MartletJSON
import MartletServer
import MartletVocabulary
import Testing

/// The model between the two sides of a `@manyToMany`: its rules are those of both sides.
@Suite(.timeLimit(.minutes(1))) struct JoinOracleTests {
  /// One random schema, its rows, and a naive evaluator. Confined to the test's task.
  private final class Run {
    let rack: [OracleRule]
    let book: [OracleRule]
    private var chance: SeededRandom
    private var racks: [String: OracleRecord] = [:]
    private var marks: [String: OracleRecord] = [:]
    private(set) var faults: [String] = []

    init(seed: UInt64) {
      var chance = SeededRandom(seed: seed)
      rack = .random(&chance)
      book = .random(&chance)
      self.chance = chance
    }

    private var rules: [OracleRule] { rack + book }

    var schema: String {
      let fields = "id: ID! title: String owner: String team: String"
      return """
        type Rack @model \(rack.directive) { \(fields) books: [Book] @manyToMany(relationName: "Mark") }
        type Book @model \(book.directive) { \(fields) racks: [Rack] @manyToMany(relationName: "Mark") }
        """
    }

    /// The fields by which rules name callers: the join has those that a rule reads.
    private var naming: [String] {
      [("owner", OracleRule.Subject.owner), ("team", .team)].compactMap { name, subject in
        rules.contains { $0.subject == subject } ? name : nil
      }
    }

    private var selection: String { (["id", "rackId", "bookId"] + naming).joined(separator: " ") }

    private func random(_ id: String) -> OracleRecord {
      var record: OracleRecord = ["id": .string(id), "owner": .null, "team": .null]
      if chance.next() % 2 == 0 { record["owner"] = .string(["ada", "bob", "cleo"][Int(chance.next() % 3)]) }
      if chance.next() % 2 == 0 { record["team"] = .string(["red", "blue"][Int(chance.next() % 2)]) }
      return record
    }

    private func only(_ names: [String], of record: OracleRecord) -> OracleRecord {
      record.filter { names.contains($0.key) }
    }

    func fill(_ server: GraphQLServer) async throws {
      for number in 0..<3 {
        racks["R\(number)"] = random("R\(number)")
        let books = random("B\(number)")
        let object = JSONObject((racks["R\(number)"] ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        try await server.transaction { _ = try $0.create("Rack", object) }
        let other = JSONObject(books.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        try await server.transaction { _ = try $0.create("Book", other) }
      }
      for number in 0..<8 {
        var mark = only(["id"] + naming, of: random("M\(number)"))
        mark["rackId"] = .string("R\(chance.next() % 3)")
        mark["bookId"] = .string("B\(chance.next() % 3)")
        let object = JSONObject(mark.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        marks["M\(number)"] = mark
        try await server.transaction { _ = try $0.create("Mark", object) }
      }
    }

    private func ask(_ query: String, _ caller: OracleCaller, _ port: Int) async throws -> JSONValue {
      let headers = caller.credentials.map { [("Authorization", $0)] } ?? []
      return try await HTTPRequest.graphql(query, port: port, headers: headers).json
    }

    private func compare(
      _ what: String, _ caller: OracleCaller, _ json: JSONValue, _ list: JSONValue?, _ ids: [String]?
    ) {
      let found = list?.array.map { $0.compactMap { $0["id"]?.string }.sorted() }
      let isRefused = json["errors"]?[0]?["extensions"]?["code"] == "FORBIDDEN"
      if found != ids?.sorted() || isRefused != (ids == nil) {
        faults.append("\(caller.name ?? "-") \(what): \(json), not \(ids.map { "\($0)" } ?? "FORBIDDEN")")
      }
    }

    func read(as caller: OracleCaller, _ port: Int) async throws {
      let mayList = rules.mayAllow("list", caller)
      let shown = marks.filter { rules.allow("list", caller, $0.value) }
      let all = try await ask("{ listMarks { items { \(selection) } } }", caller, port)
      compare("list", caller, all, all["data"]?["listMarks"]?["items"], mayList ? Array(shown.keys) : nil)
      for (id, mark) in marks.sorted(by: { $0.key < $1.key }) {
        let json = try await ask("{ getMark(id: \"\(id)\") { \(selection) } }", caller, port)
        let found = json["data"]?["getMark"].map { $0.isNull ? JSONValue.array([]) : .array([$0]) }
        let ids = rules.allow("get", caller, mark) ? [id] : []
        let mayGet = rules.mayAllow("get", caller)
        compare("get \(id)", caller, json, mayGet ? found : nil, mayGet ? ids : nil)
      }
      for (id, record) in racks.sorted(by: { $0.key < $1.key }) where rack.allow("get", caller, record) {
        let json = try await ask("{ getRack(id: \"\(id)\") { books { items { id } } } }", caller, port)
        let ids = shown.filter { $0.value["rackId"]?.string == id }.map(\.key)
        compare("marks of \(id)", caller, json, json["data"]?["getRack"]?["books"]?["items"], mayList ? ids : nil)
      }
    }

    /// Deletes one row and makes another; the naive evaluator says which of both is refused.
    func write(as caller: OracleCaller, _ port: Int) async throws {
      func code(_ query: String) async throws -> String? {
        try await ask(query, caller, port)["errors"]?[0]?["extensions"]?["code"]?.string
      }
      guard let (id, mark) = marks.sorted(by: { $0.key < $1.key }).first else { return }
      var expected: String?
      if !rules.mayAllow("delete", caller) {
        expected = "FORBIDDEN"
      } else if !rules.allow("delete", caller, mark) {
        expected = rules.allow("get", caller, mark) ? "FORBIDDEN" : "NOT_FOUND"
      }
      let deleted = try await code("mutation { deleteMark(input: {id: \"\(id)\"}) { id } }")
      if deleted != expected { faults.append("\(caller.name ?? "-") delete \(id): \(deleted ?? "done")") }
      if expected == nil { marks[id] = nil }
      let new = "N\(caller.name ?? "guest")"
      var made: OracleRecord = ["id": .string(new), "rackId": "R0", "bookId": "B0"]
      if rules.contains(where: { $0.subject == .owner && $0.mayAllow("create", caller) }) {
        made["owner"] = caller.name.map { .string($0) }
      }
      let isAllowed = rules.allow("create", caller, made)
      let created = try await code(
        "mutation { createMark(input: {id: \"\(new)\", rackId: \"R0\", bookId: \"B0\"}) { id } }")
      if (created == "FORBIDDEN") == isAllowed { faults.append("\(caller.name ?? "-") create: \(created ?? "done")") }
      if isAllowed { marks[new] = made }
    }
  }

  @Test(arguments: [UInt64](1...8))
  func `P10: the rows between two models are shown and written as the rules of both models say`(seed: UInt64)
    async throws
  {
    let run = Run(seed: seed)
    try await RuleFixture.with(run.schema) { server in
      try await run.fill(server)
      for caller in OracleCaller.all {
        try await run.read(as: caller, server.port)
        try await run.write(as: caller, server.port)
        try await run.read(as: caller, server.port)
      }
    }
    #expect(run.faults.isEmpty, "seed \(seed): \(run.faults.first ?? "") of \(run.schema)")
  }

  @Test func `rows between two models are closed where one of the models is`() async throws {
    let schema = """
      type Rack @model @auth(rules: [{allow: public}]) { id: ID! books: [Book] @manyToMany(relationName: "Mark") }
      type Book @model { id: ID! racks: [Rack] @manyToMany(relationName: "Mark") }
      """
    try await RuleFixture.with(schema) { server in
      let create = #"mutation { createMark(input: {rackId: "a", bookId: "b"}) { id } }"#
      for operation in ["{ listMarks { items { id } } }", create] {
        let code = try await RuleFixture.code(operation, as: "ada", server.port)
        #expect(code == "FORBIDDEN", "\(operation)")
      }
    }
  }
}
