import MartletCommandLine
import MartletGraphQLStore
import MartletJSON
import MartletSQLiteStore

/// The client's normalized store: results of 1,000 records each are written, written again, changed, read and watched,
/// in a store that already has the others. Beside it the least that could be done with the same data: a dictionary from
/// key to the record's JSON.
struct CacheWorkload {
  static let page = 1_000
  static let document = "query Board($page: Int!) { flights(page: $page) { id line gate minutes late } }"
  static let event = "subscription { moved { id gate } }"

  private let store: GraphQLStore
  private let pages: Int

  static func run(records: Int, file: String?) async throws {
    var configuration = GraphQLStoreConfiguration()
    configuration.limits.records = .max
    configuration.limits.bytes = .max
    let store: GraphQLStore
    if let file {
      store = GraphQLStore(cache: try SQLiteNormalizedCache(file: file), configuration: configuration)
    } else {
      store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
    }
    let pages = records / page
    var figure = BenchFigure("cache")
    figure.add("records", pages * page)
    try await CacheWorkload(store: store, pages: pages).measure(&figure)
    figure.print()
  }

  /// One page as a server sends it, in the order of the request.
  private static func result(_ number: Int, gate: String) -> JSONValue {
    let flights = (0..<page).map { index -> JSONValue in
      let id = number * page + index
      return [
        "id": .string("f\(id)"), "line": .string("OS \(id % 997) to Vienna"), "gate": .string(gate),
        "minutes": .int(Int64(id % 60)), "late": .bool(id % 7 == 0), "__typename": "Flight",
      ]
    }
    return ["flights": .array(flights)]
  }

  private func operation(_ number: Int) -> StoreOperation {
    StoreOperation(document: Self.document, variables: ["page": .int(Int64(number))])
  }

  private func measure(_ figure: inout BenchFigure) async throws {
    let first = (0..<pages).map { Self.result($0, gate: "A1") }
    let changed = (0..<pages).map { Self.result($0, gate: "B2") }
    figure.add("parse_ns", try parse(first[0]))
    figure.add("new_ns", try perRecord { try store.publish(StorePayload(data: first[$0]), of: operation($0)) })
    figure.add("same_ns", try perRecord { try store.publish(StorePayload(data: first[$0]), of: operation($0)) })
    figure.add("changed_ns", try perRecord { try store.publish(StorePayload(data: changed[$0]), of: operation($0)) })
    figure.add(
      "read_ns",
      try perRecord { page in
        let found = try store.read(operation(page))
        guard found?.data?["flights"]?.array?.count == Self.page else { throw UsageError("the store lost a page") }
      })
    try await watch(&figure)
    var peer: [String: [UInt8]] = [:]
    figure.add("peer_new_ns", perRecord { Self.keep(first[$0], in: &peer) })
    figure.add("peer_same_ns", perRecord { Self.keep(first[$0], in: &peer) })
    figure.add("peer_changed_ns", perRecord { Self.keep(changed[$0], in: &peer) })
    figure.add("estimated_bytes_per_record", store.usage.bytes / max(1, pages * Self.page))
  }

  /// Nanoseconds of processor time per record of `body`, called with each page.
  private func perRecord(_ body: (Int) throws -> Void) rethrows -> Double {
    let start = CPUTime.now()
    for page in 0..<pages { try body(page) }
    return Double((CPUTime.now() - start).processor) / Double(pages * Self.page)
  }

  private func parse(_ result: JSONValue) throws -> Double {
    let bytes = result.serialized()
    return try CPUTime.each(20) { _ = try JSONValue(parsing: bytes) } / Double(Self.page)
  }

  /// One event after another that changes one record of a watched page of 1,000, and of a watched single record.
  private func watch(_ figure: inout BenchFigure) async throws {
    let rounds = 200
    let nothing: StoreFetch = { StorePayload(data: nil) }
    var board = store.watch(operation(0), policy: .cacheOnly, fetch: nothing).makeAsyncIterator()
    _ = try await board.next()
    let moved = try store.prepare(StoreOperation(document: Self.event))
    var start = CPUTime.now()
    for round in 0..<rounds {
      try moved.publish(Self.moved(round % Self.page, "C\(round)"))
      guard try await board.next() != nil else { throw UsageError("the watcher ended") }
    }
    figure.add("notify_1000_us", Double((CPUTime.now() - start).processor) / Double(rounds) / 1_000)

    var last = store.watch(
      StoreOperation(document: "{ moved: flight { id gate } }"), policy: .cacheOnly, fetch: nothing
    )
    .makeAsyncIterator()
    let one = (pages - 1) * Self.page + 500
    try store.publish(
      StorePayload(data: ["moved": Self.flight(one, "D")]),
      of: StoreOperation(document: "{ moved: flight { id gate } }"))
    _ = try await last.next()
    start = CPUTime.now()
    for round in 0..<rounds * 10 {
      try moved.publish(Self.moved(one, "E\(round)"))
      guard try await last.next() != nil else { throw UsageError("the watcher ended") }
    }
    figure.add("notify_1_us", Double((CPUTime.now() - start).processor) / Double(rounds * 10) / 1_000)

    start = CPUTime.now()
    for round in 0..<rounds * 10 {
      try moved.publish(Self.moved(pages > 1 ? Self.page + round % Self.page : 501, "F\(round)"))
    }
    figure.add("unwatched_event_us", Double((CPUTime.now() - start).processor) / Double(rounds * 10) / 1_000)
  }

  private static func flight(_ id: Int, _ gate: String) -> JSONValue {
    ["__typename": "Flight", "id": .string("f\(id)"), "gate": .string(gate)]
  }

  private static func moved(_ id: Int, _ gate: String) -> StorePayload {
    StorePayload(data: ["moved": flight(id, gate)])
  }

  /// The peer: records as JSON by key. It knows what changed by comparing bytes; it cannot merge, and reads one way
  /// only.
  private static func keep(_ result: JSONValue, in records: inout [String: [UInt8]]) {
    var keys: [String] = []
    for flight in result["flights"]?.array ?? [] {
      guard let type = flight["__typename"]?.string, let id = flight["id"]?.string else { continue }
      let key = type + ":" + id
      let bytes = flight.serialized()
      if records[key] != bytes { records[key] = bytes }
      keys.append(key)
    }
    records["flights"] = Array(keys.joined(separator: ",").utf8)
  }
}
