import Martlet
import MartletSQLiteStore

/// The guide's ways to make a store, and to change what it holds.
enum StoreSnippets {
  static func make(_ path: String) throws -> [GraphQLStore] {
    let store = GraphQLStore()  // in memory
    let lasting = GraphQLStore(cache: try SQLiteNormalizedCache(file: path))  // product MartletSQLiteStore
    return [store, lasting]
  }

  static func keyed() -> GraphQLStore {
    var configuration = GraphQLStoreConfiguration()
    configuration.keyFields = ["Airport": ["code"], "Leg": ["line", "day"], "Weather": []]
    let store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
    return store
  }

  static func hope(_ store: GraphQLStore) throws {
    let update = try store.updateOptimistically { transaction in
      try transaction.setFields(["gate": "B12"], of: CacheKey("Flight:42"))
    }
    defer { try? update.rollBack() }
    precondition(update.isActive)
  }

  static func add(to store: GraphQLStore) async throws {
    try await store.withinReadWriteTransaction { transaction in
      try transaction.update("{ departures { id line } }") { data in
        let new: JSONValue = ["__typename": "Flight", "id": "43", "line": "RJ 60"]
        data["departures"] = .array((data["departures"]?.array ?? []) + [new])
      }
    }
  }
}
