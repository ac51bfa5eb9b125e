import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletVocabulary

/// One random history of a server with rules, and a naive evaluator beside it. Collects what differs.
///
/// Confined to the test's task.
final class OracleRun {
  private static let fields = "id title owner team secret"
  private let server: GraphQLServer
  private var chance: SeededRandom
  private var rules: OracleRules
  private var records: [String: [String: OracleRecord]] = ["Rack": [:], "Book": [:]]
  /// Every image that a record has had, oldest first.
  private var images: [String: [String: [OracleRecord]]] = ["Rack": [:], "Book": [:]]
  private var listeners: [OracleListener] = []
  private var streams: [OracleStream] = []
  private(set) var faults: [String] = []

  private init(_ server: GraphQLServer, _ chance: SeededRandom, _ rules: OracleRules) {
    (self.server, self.chance, self.rules) = (server, chance, rules)
  }

  /// Runs `steps` random steps and returns what differed from the naive evaluator, at most up to the first step with
  /// differences.
  static func faults(
    seed: UInt64, steps: Int, syncs: Bool = false, cascades: Bool = false, lens: RuleLens? = nil
  ) async throws -> [String] {
    var chance = SeededRandom(seed: seed)
    let rules = OracleRules(&chance, syncs: syncs, cascades: cascades)
    let generator = chance
    var faults: [String] = []
    try await Served.with(
      rules.schema,
      { configuration in
        configuration.access = .onConnect()
        configuration.onConnect = RuleFixture.question
        configuration.ruleLens = lens
        configuration.treeRules = #"{"rules": {"models": {".read": true}}}"#
        // Listeners of the older dialects ask by it whether everything has arrived.
        configuration.limits.webSocket.initialisations = .max
      }
    ) { server in
      let run = OracleRun(server, generator, rules)
      try await run.run(steps)
      faults = run.faults
    }
    return faults
  }

  private func run(_ steps: Int) async throws {
    let dialects: [Dialect] = [.graphqlTransportWS, .graphqlWS, .appSync, .graphqlTransportWS, .graphqlTransportWS]
    for (caller, dialect) in zip(OracleCaller.all, dialects) {
      listeners.append(try await OracleListener(caller, Talk(dialect: dialect), server.port))
    }
    for listener in listeners { try await listener.subscribe(rules) }
    for (caller, accept) in zip(OracleCaller.all, ["multipart/mixed;subscriptionSpec=1.0", "text/event-stream"]) {
      streams.append(OracleStream(caller, accept: accept, server.port))
    }
    for stream in streams { try await stream.subscribe(rules) }
    for _ in 0..<steps where faults.isEmpty { try await step() }
    for listener in listeners {
      try await listener.comeBack(rules)
      try await listener.settle()
      faults += listener.faults
      listener.close()
    }
    for stream in streams {
      try await stream.settle()
      faults += stream.faults
      stream.close()
    }
  }

  private func number(_ count: Int) -> Int { Int(chance.next() % UInt64(count)) }
  private func pick<Element>(_ list: [Element]) -> Element { list[number(list.count)] }

  private func step() async throws {
    switch number(24) {
    case 0: try await reload()
    case 1: for listener in listeners where listener.mayLeave && number(2) == 0 { try await listener.leave() }
    case 2, 3: for listener in listeners { try await listener.comeBack(rules) }
    case 4...9: try await write(as: nil)
    case 10...16: try await write(as: pick(OracleCaller.all))
    default: try await read(as: pick(OracleCaller.all))
    }
    for listener in listeners { faults += listener.faults }
  }

  private func reload() async throws {
    for listener in listeners { try await listener.settle() }
    for stream in streams { try await stream.settle() }
    rules = OracleRules(&chance, syncs: rules.syncs, cascades: rules.cascades)
    try await server.reload(schema: rules.schema)
    for listener in listeners { try await listener.rulesChanged(rules) }
    for stream in streams { try await stream.rulesChanged(rules) }
  }

  // MARK: Writing

  private func values() -> OracleRecord {
    var values: OracleRecord = [:]
    if number(2) == 0 { values["title"] = .string("t\(number(3))") }
    if number(3) == 0 { values["owner"] = .string(pick(["ada", "bob", "cleo", "dan"])) }
    if number(3) == 0 { values["team"] = .string(pick(["red", "blue"])) }
    if number(3) == 0 { values["secret"] = .string("s\(number(2))") }
    return values
  }

  /// A random write by a caller, or by the program itself.
  private func write(as caller: OracleCaller?) async throws {
    let model = pick(["Book", "Book", "Book", "Rack"])
    let known = records[model, default: [:]].keys.sorted()
    var values = values()
    let deletes = model == "Book" || rules.cascades
    let kinds = deletes ? ["create", "update", "update", "delete"] : ["create", "update"]
    let kind = known.isEmpty ? "create" : pick(kinds)
    let id = kind == "create" ? "\(model)\(number(9))" : number(8) == 0 ? "none" : pick(known)
    if kind == "create", model == "Book" { values["rackID"] = .string("Rack\(number(9))") }
    if kind == "delete" { values = [:] }
    let condition: String? = kind != "create" && number(4) == 0 ? "s\(number(2))" : nil
    let expected = outcome(kind, model, id, values, condition, caller)
    var input = values
    input["id"] = .string(id)
    if let caller {
      let answer = try await post(kind, model, input, condition, caller)
      if answer != expected.answer {
        let asked = "\(caller.name ?? "-") \(kind) \(model) \(input) if \(condition ?? "-")"
        faults.append("\(asked): \(answer), not \(expected.answer)")
      }
    } else if case .refused = expected.answer {
      return
    } else {
      let object = JSONObject(input.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) })
      try await server.transaction { transaction in
        switch kind {
        case "create": _ = try transaction.create(model, object)
        case "update": _ = try transaction.update(model, object)
        default: _ = try transaction.delete(model, object)
        }
      }
    }
    guard let change = expected.change else { return }
    if kind == "delete", model == "Rack" {
      // Its books go first, also those that the caller does not see; each is an event by its own rules.
      for book in records["Book", default: [:]].keys.sorted() where racks[book] == id {
        guard let record = records["Book"]?[book] else { continue }
        apply(OracleChange(model: "Book", kind: "Delete", record: record), to: book)
      }
    }
    apply(change, to: id)
  }

  private func apply(_ change: OracleChange, to id: String) {
    records[change.model]?[id] = change.kind == "Delete" ? nil : change.record
    images[change.model]?[id, default: []].append(change.record)
    for listener in listeners { listener.note(change, rules) }
    for stream in streams { stream.note(change, rules) }
  }

  private enum Answer: Equatable, CustomStringConvertible {
    case refused(String)
    case hidden
    case record(OracleRecord)

    var description: String {
      switch self {
      case .refused(let code): code
      case .hidden: "hidden"
      case .record(let record): "\(record)"
      }
    }
  }

  /// What the naive evaluator makes of a write. The program's own are not restricted and have no conditions.
  private func outcome(
    _ kind: String, _ model: String, _ id: String, _ values: OracleRecord, _ condition: String?, _ caller: OracleCaller?
  ) -> (answer: Answer, change: OracleChange?) {
    let rules = rules.model(model)
    let before = records[model]?[id]
    func refused(_ code: String) -> (Answer, OracleChange?) { (.refused(code), nil) }
    func applied(_ kind: String, _ record: OracleRecord) -> (Answer, OracleChange?) {
      var seen: OracleRecord? = record
      if let caller { seen = rules.view(record, "get", caller) }
      return (seen.map { Answer.record($0) } ?? .hidden, OracleChange(model: model, kind: kind, record: record))
    }
    if let caller {
      if !rules.rules.mayAllow(kind, caller) { return refused("FORBIDDEN") }
      if condition != nil, let secret = rules.secret, !secret.mayAllow("get", caller) { return refused("FORBIDDEN") }
    }
    if kind == "create" {
      var record: OracleRecord = ["title": .null, "owner": .null, "team": .null, "secret": .null]
      record.merge(values) { $1 }
      record["rackID"] = nil
      record["id"] = .string(id)
      if let caller {
        let isOwned = rules.rules.contains { $0.subject == .owner && $0.mayAllow("create", caller) }
        if values["owner"] == nil, isOwned { record["owner"] = caller.name.map { .string($0) } ?? .null }
        let mayWrite = values["secret"] == nil || rules.secret?.allow(kind, caller, record) ?? true
        guard rules.rules.allow(kind, caller, record), mayWrite else { return refused("FORBIDDEN") }
        if let before {
          return refused(rules.view(before, "get", caller) == nil ? "FORBIDDEN" : "ALREADY_EXISTS")
        }
      } else if before != nil {
        return refused("ALREADY_EXISTS")
      }
      if model == "Book" { racks[id] = values["rackID"]?.string }
      return applied("Create", record)
    }
    guard let before else { return refused("NOT_FOUND") }
    if let caller {
      let mayWrite = values["secret"] == nil || rules.secret?.allow(kind, caller, before) ?? true
      guard rules.rules.allow(kind, caller, before), mayWrite else {
        return refused(rules.view(before, "get", caller) == nil ? "NOT_FOUND" : "FORBIDDEN")
      }
      if let condition, rules.view(before, "get", caller)?["secret"]?.string != condition {
        return refused("CONDITION_FAILED")
      }
    }
    if kind == "delete" { return applied("Delete", before) }
    return applied("Update", before.merging(values) { $1 })
  }

  /// The rack of each book that was made.
  private var racks: [String: String] = [:]

  private func post(
    _ kind: String, _ model: String, _ input: OracleRecord, _ condition: String?, _ caller: OracleCaller
  ) async throws -> Answer {
    let given = input.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    let suffix = condition.map { ", condition: {secret: {eq: \"\($0)\"}}" } ?? ""
    let json = try await ask("mutation { \(kind)\(model)(input: {\(given)}\(suffix)) { \(Self.fields) } }", caller)
    if let code = json["errors"]?[0]?["extensions"]?["code"]?.string { return .refused(code) }
    guard let record = json["data"]?["\(kind)\(model)"]?.object else { return .hidden }
    return .record(OracleEvent.values(record))
  }

  /// Asks by a request of its own, or as the second operation of a batch.
  private func ask(_ query: String, _ caller: OracleCaller) async throws -> JSONValue {
    let headers = caller.credentials.map { [("Authorization", $0)] } ?? []
    guard number(4) == 0 else {
      return try await HTTPRequest.graphql(query, port: server.port, headers: headers).json
    }
    let batch: JSONValue = [["query": "{ __typename }"], ["query": .string(query)]]
    let answer = try await HTTPRequest.send(
      "POST", "/graphql", port: server.port, headers: [("Content-Type", "application/json")] + headers,
      body: String(decoding: batch.serialized(), as: UTF8.self))
    return answer.json[1] ?? answer.json
  }

  // MARK: Reading

  private func read(as caller: OracleCaller) async throws {
    switch number(rules.syncs ? 10 : 8) {
    case 8: try await readSync(pick(["Book", "Rack"]), caller)
    case 9: try await readChanges(pick(["Book", "Rack"]), caller)
    case 0: try await readOne(pick(["Book", "Rack"]), caller)
    case 1: try await readList(pick(["Book", "Rack"]), caller)
    case 2: try await readIndex(caller)
    case 3...6: try await readBooks(caller)
    default: try await readRack(caller)
    }
  }

  private func check(
    _ what: String, _ caller: OracleCaller, _ found: JSONValue?, _ expected: [OracleRecord]?, _ json: JSONValue
  ) {
    func inOrder(_ left: OracleRecord, _ right: OracleRecord) -> Bool {
      (left["id"]?.string ?? "") < (right["id"]?.string ?? "")
    }
    let items = found?.array?.map { OracleEvent.values($0.object) }.sorted(by: inOrder)
    let wanted = expected?.sorted(by: inOrder)
    let code = json["errors"]?[0]?["extensions"]?["code"]?.string
    if items != wanted || (expected == nil) != (code == "FORBIDDEN") {
      faults.append("\(caller.name ?? "-") \(what): \(json), not \(wanted.map { "\($0)" } ?? "FORBIDDEN")")
    }
  }

  private func readOne(_ model: String, _ caller: OracleCaller) async throws {
    let id = "\(model)\(number(9))"
    let json = try await ask("{ get\(model)(id: \"\(id)\") { \(Self.fields) } }", caller)
    let rules = rules.model(model)
    guard rules.rules.mayAllow("get", caller) else {
      try await checkTree("\(model)/\(id)", caller, nil)
      return check("get \(id)", caller, nil, nil, json)
    }
    let found = json["data"]?["get\(model)"].map { $0.isNull ? JSONValue.array([]) : .array([$0]) }
    let seen = records[model]?[id].flatMap { rules.view($0, "get", caller) }
    check("get \(id)", caller, found, seen.map { [$0] } ?? [], json)
    try await checkTree("\(model)/\(id)", caller, seen.map { [$0] } ?? [])
  }

  /// The same records as nodes of the tree, whose own rules let every caller read there.
  ///
  /// - Parameter path: a model, or a record of one.
  private func checkTree(_ path: String, _ caller: OracleCaller, _ expected: [OracleRecord]?) async throws {
    let headers = caller.credentials.map { [("Authorization", $0)] } ?? []
    let answer = try await HTTPRequest.send("GET", "/models/\(path).json", port: server.port, headers: headers)
    let isOne = path.contains("/")
    let nodes = isOne ? [answer.json] : answer.json.object?.map(\.value) ?? []
    let found = nodes.compactMap(\.object).map { OracleEvent.values($0) }
    let isRight = expected.map { answer.status == 200 && Set(found) == Set($0) } ?? (answer.status == 401)
    if !isRight {
      faults.append("\(caller.name ?? "-") /models/\(path): \(answer.text), not \(expected.map { "\($0)" } ?? "401")")
    }
  }

  /// The records that a caller sees in a list; nil when no rule allows any.
  private func listed(_ model: String, _ caller: OracleCaller) -> [OracleRecord]? {
    let rules = rules.model(model)
    guard rules.rules.mayAllow("list", caller) else { return nil }
    return records[model, default: [:]].values.compactMap { rules.view($0, "list", caller) }
  }

  private func readList(_ model: String, _ caller: OracleCaller) async throws {
    let secret: String? = number(2) == 0 ? "s\(number(2))" : nil
    let filter = secret.map { "(filter: {secret: {eq: \"\($0)\"}})" } ?? ""
    let json = try await ask("{ list\(model)s\(filter) { items { \(Self.fields) } } }", caller)
    var expected = listed(model, caller)
    if let secret {
      expected = expected?.filter { $0["secret"]?.string == secret }
      if let own = rules.model(model).secret, !own.mayAllow("list", caller) { expected = nil }
    }
    check("list \(model)\(filter)", caller, json["data"]?["list\(model)s"]?["items"], expected, json)
    try await checkTree(model, caller, listed(model, caller))
  }

  /// All records, as a sync shows them.
  private func readSync(_ model: String, _ caller: OracleCaller) async throws {
    let json = try await ask("{ sync\(model)s { items { \(Self.fields) } } }", caller)
    let rules = rules.model(model)
    var expected: [OracleRecord]?
    if rules.rules.mayAllow("sync", caller) {
      expected = records[model, default: [:]].values.compactMap { rules.view($0, "sync", caller) }
    }
    check("sync \(model)", caller, json["data"]?["sync\(model)s"]?["items"], expected, json)
  }

  /// Everything that ever changed, as a sync since the beginning shows it: records that the caller sees, and the last
  /// image that it could see of the others.
  private func readChanges(_ model: String, _ caller: OracleCaller) async throws {
    let json = try await ask(
      "{ sync\(model)s(lastSync: 0, limit: 1000) { items { \(Self.fields) _deleted } } }", caller)
    let rules = rules.model(model)
    let items = json["data"]?["sync\(model)s"]?["items"]
    guard rules.rules.mayAllow("sync", caller) else { return check("changes of \(model)", caller, nil, nil, json) }
    func part(_ isGone: Bool) -> JSONValue {
      .array((items?.array ?? []).filter { ($0["_deleted"] == true) == isGone })
    }
    var shown: [OracleRecord] = []
    var gone: [OracleRecord] = []
    for (id, images) in images[model, default: [:]] {
      if let view = records[model]?[id].flatMap({ rules.view($0, "sync", caller) }) {
        shown.append(view)
      } else if let last = images.last(where: { rules.view($0, "sync", caller) != nil }) {
        gone += [rules.view(last, "sync", caller)].compactMap { $0 }
      }
    }
    check("changes of \(model)", caller, part(false), shown, json)
    check("what has left \(model)", caller, part(true), gone, json)
  }

  private func readIndex(_ caller: OracleCaller) async throws {
    let rack = "Rack\(number(9))"
    let json = try await ask("{ booksByRack(rackID: \"\(rack)\") { items { \(Self.fields) } } }", caller)
    let expected = listed("Book", caller)?.filter { racks[$0["id"]?.string ?? ""] == rack }
    check("books of \(rack)", caller, json["data"]?["booksByRack"]?["items"], expected, json)
  }

  /// A rack's books by the relation.
  private func readBooks(_ caller: OracleCaller) async throws {
    let id = "Rack\(number(9))"
    guard let rack = records["Rack"]?[id], rules.rack.view(rack, "get", caller) != nil else { return }
    let json = try await ask("{ getRack(id: \"\(id)\") { books { items { \(Self.fields) } } } }", caller)
    var expected = listed("Book", caller)?.filter { racks[$0["id"]?.string ?? ""] == id }
    if let own = rules.books, !own.allow("list", caller, rack) { expected = expected.map { _ in [] } }
    check("books in \(id)", caller, json["data"]?["getRack"]?["books"]?["items"], expected, json)
  }

  /// A book's rack by the relation.
  private func readRack(_ caller: OracleCaller) async throws {
    let id = "Book\(number(9))"
    guard let book = records["Book"]?[id], rules.book.view(book, "get", caller) != nil else { return }
    let json = try await ask("{ getBook(id: \"\(id)\") { rack { \(Self.fields) } } }", caller)
    let expected = listed("Rack", caller)?.filter { $0["id"]?.string == racks[id] }
    let found = json["data"]?["getBook"]?["rack"].map { $0.isNull ? JSONValue.array([]) : .array([$0]) }
    check("rack of \(id)", caller, expected == nil ? nil : found, expected, json)
  }
}
