import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import MartletRuntime

/// Opens once; earlier callers wait.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A schema of heroes whose fields answer in every way a resolver can.
enum Heroes {
  static let text = """
    type Query { hero: Hero heroes(count: Int = 3): [Hero!]! names: [String] grid: [[Int]] maybe: [Hero] strict: [Hero!]
      feed: [Hero!] person: Person numbers: [Int!] }
    type Mutation { rename(name: String): Hero }
    type Subscription { renamed: Hero }
    interface Person { id: ID! name: String }
    type Hero implements Person { id: ID! name: String later: String! rank: Int friends: [Hero!]! best: Hero home: Home
      bad: String badNow: String! badLater: String! strictBest: Hero! }
    type Home { city: String planet: String! bad: String! later: String }
    """

  static func hero(_ id: Int) -> JSONValue {
    ["id": .string("\(id)"), "name": .string("Hero \(id)"), "__typename": "Hero"]
  }

  static func number(_ request: FieldRequest) -> Int {
    Int(request.parent("id")?.string ?? "") ?? 0
  }

  static func schema(
    limits: ExecutionLimits = ExecutionLimits(), batches: Diary = Diary(), _ more: (inout Resolvers) -> Void = { _ in }
  ) throws -> ExecutableSchema {
    try ExecutableSchema(
      text, limits: limits, exposure: .messages, allowsIncrementalDelivery: true,
      configure: { schema in
        schema.compute("Query", "hero") { _ in hero(1) }
        schema.compute("Query", "person") { _ in hero(5) }
        schema.compute("Query", "heroes") { request in
          JSONValue.array((0..<(request.int("count") ?? 0)).map { hero($0 + 1) })
        }
        schema.compute("Query", "names") { _ in ["a", "b", "c", "d"] as JSONValue }
        schema.compute("Query", "numbers") { _ in [1, 2, nil, 4] as JSONValue }
        schema.compute("Query", "grid") { _ in [[1, 2], [3, 4]] as JSONValue }
        schema.compute("Query", "maybe") { _ in JSONValue.array([hero(1), .null, hero(3)]) }
        schema.compute("Query", "strict") { _ in JSONValue.array([hero(1), hero(2), hero(3)]) }
        schema.list("Query", "feed") { _ in
          AsyncStream<JSONValue> { continuation in
            for id in 1...4 { continuation.yield(hero(id)) }
            continuation.finish()
          }
        }
        schema.compute("Mutation", "rename") { _ in hero(9) }
        schema.resolve("Hero", "later") { request in "later \(number(request))" }
        schema.batch("Hero", "rank") { request in
          batches.write("rank of \(request.sources.count)")
          return request.sources.map { .value($0.json?["id"]?.string.flatMap { Int64($0) }.map { .int($0) } ?? .null) }
            as [ResolvedValue]
        }
        schema.compute("Hero", "friends") { request in
          JSONValue.array([hero(number(request) * 10), hero(number(request) * 10 + 1)])
        }
        schema.compute("Hero", "best") { request in hero(number(request) * 100) }
        schema.compute("Hero", "strictBest") { request in hero(number(request) * 100) }
        schema.compute("Hero", "home") { _ in ["city": "Mos Eisley", "planet": "Tatooine"] as JSONValue }
        schema.resolve("Home", "later") { _ in "home later" }
        schema.compute("Hero", "bad") { _ -> String in throw ResolverError("bad") }
        schema.compute("Hero", "badNow") { _ -> String in throw ResolverError("bad now") }
        schema.resolve("Hero", "badLater") { _ -> String in throw ResolverError("bad later") }
        more(&schema)
      })
  }
}

extension ExecutableSchema {
  /// The payloads of a response in parts.
  func parts(
    _ document: String, variables: JSONObject = [:], format: IncrementalFormat = .current
  ) async throws -> [JSONValue] {
    var parts: [JSONValue] = []
    for await part in executeIncrementally(document, variables: variables, format: format) {
      parts.append(try JSONValue(parsing: part.bytes))
    }
    return parts
  }
}

/// Puts the payloads of a response together again, as a client does, and checks the order of announcements.
struct Assembly {
  var data: JSONValue = .null
  var errors = 0
  /// What breaks the rules of the format.
  var faults: [String] = []
  private var open: [String: [JSONValue]] = [:]
  private var known: Set<String> = []
  var announced: Int { known.count }

  init(_ parts: [JSONValue]) {
    for (index, part) in parts.enumerated() {
      if index == 0 { data = part["data"] ?? .null }
      if index > 0, part["data"] != nil { faults.append("data in an update") }
      let hasNext = part["hasNext"].map { $0 == true } ?? false
      if hasNext != (index < parts.count - 1) { faults.append("hasNext of payload \(index)") }
      errors += part["errors"]?.array?.count ?? 0
      for pending in part["pending"]?.array ?? [] {
        let id = pending["id"]?.string ?? ""
        if !known.insert(id).inserted { faults.append("id \(id) twice") }
        open[id] = pending["path"]?.array ?? []
      }
      for patch in part["incremental"]?.array ?? [] { apply(patch) }
      for completed in part["completed"]?.array ?? [] {
        let id = completed["id"]?.string ?? ""
        if open.removeValue(forKey: id) == nil { faults.append("completed \(id) is not open") }
        errors += completed["errors"]?.array?.count ?? 0
      }
    }
    if !open.isEmpty { faults.append("never completed: \(open.keys.sorted())") }
  }

  private mutating func apply(_ patch: JSONValue) {
    errors += patch["errors"]?.array?.count ?? 0
    let id = patch["id"]?.string ?? ""
    guard let path = open[id] else { return faults.append("patch for \(id), which is not open") }
    let whole = path + (patch["subPath"]?.array ?? [])
    guard let changed = Self.change(data, whole[...], patch) else { return faults.append("no place for \(patch)") }
    data = changed
  }

  private static func change(_ value: JSONValue, _ path: ArraySlice<JSONValue>, _ patch: JSONValue) -> JSONValue? {
    guard let step = path.first else { return merge(value, patch["data"] ?? patch["items"] ?? .null) }
    switch (value, step) {
    case (.object(var object), .string(let key)):
      guard let child = object[key], let changed = change(child, path.dropFirst(), patch) else { return nil }
      object[key] = changed
      return .object(object)
    case (.array(var items), .int(let index)):
      guard items.indices.contains(Int(index)), let changed = change(items[Int(index)], path.dropFirst(), patch) else {
        return nil
      }
      items[Int(index)] = changed
      return .array(items)
    default: return nil
    }
  }

  private static func merge(_ old: JSONValue, _ new: JSONValue) -> JSONValue? {
    switch (old, new) {
    case (.object(var object), .object(let more)):
      for (key, value) in more {
        // A field is delivered once.
        if object[key] != nil { return nil }
        object[key] = value
      }
      return .object(object)
    case (.array(let items), .array(let more)): return .array(items + more)
    default: return nil
    }
  }

  /// A value with the members of its objects in the order of their names.
  static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      var result = JSONObject()
      for (key, value) in object.sorted(by: { $0.key < $1.key }) { result[key] = sorted(value) }
      return .object(result)
    case .array(let items): return .array(items.map { sorted($0) })
    case .null, .bool, .int, .uint, .double, .string: return value
    }
  }
}
