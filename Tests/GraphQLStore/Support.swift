import MartletGraphQLStore
import MartletJSON
import MartletRuntime

/// A store and short ways to use it.
struct Bench {
  let store: GraphQLStore

  init(_ configure: (inout GraphQLStoreConfiguration) -> Void = { _ in }) {
    var configuration = GraphQLStoreConfiguration()
    configuration.clock = { .seconds(1_000) }
    configure(&configuration)
    store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
  }

  func write(
    _ document: String, _ data: JSONValue, variables: JSONObject = JSONObject(), errors: [JSONValue] = []
  ) throws {
    try store.publish(
      StorePayload(data: data, errors: errors), of: StoreOperation(document: document, variables: variables))
  }

  func read(_ document: String, variables: JSONObject = JSONObject(), partial: Bool = false) throws -> JSONValue? {
    try store.read(StoreOperation(document: document, variables: variables), allowingPartial: partial)?.data
  }

  func record(_ key: String) async throws -> CacheRecord? {
    try await store.withinReadTransaction { try $0.record(CacheKey(key)) }
  }
}

/// Answers of a network, in order, and how often it was asked.
final class Network: Sendable {
  struct Down: Error {}
  private let shared = Lock<(answers: [Result<StorePayload, any Error>], asked: Int)>((answers: [], asked: 0))

  init(_ data: JSONValue...) {
    for value in data { then(value) }
  }

  func then(_ data: JSONValue, errors: [JSONValue] = []) {
    shared.withLock { $0.answers.append(.success(StorePayload(data: data, errors: errors))) }
  }

  func thenFails(_ error: any Error = Down()) {
    shared.withLock { $0.answers.append(.failure(error)) }
  }

  var asked: Int { shared.withLock { $0.asked } }

  var fetch: StoreFetch {
    { [self] in
      try shared.withLock { shared -> Result<StorePayload, any Error> in
        shared.asked += 1
        return shared.answers.isEmpty ? .failure(Down()) : shared.answers.removeFirst()
      }.get()
    }
  }
}

/// One flight as servers send it to a document with `__typename` added.
func flight(_ id: String, gate: JSONValue = "A1") -> JSONValue {
  ["__typename": "Flight", "id": .string(id), "gate": gate]
}

/// Time that passes when a test says so.
final class TestClock: Sendable {
  private let seconds = Lock(1_000)
  var now: Duration { .seconds(seconds.withLock { $0 }) }
  func advance(_ by: Int) { seconds.withLock { $0 += by } }
}
