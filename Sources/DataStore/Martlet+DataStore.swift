public import MartletGraphQLClient
internal import MartletRuntime

extension Martlet {
  /// Holds the store. Each task sees its own holder when one was set around it.
  @TaskLocal package static var dataStoreHolder = DataStoreHolder()

  /// The store given to `configure(dataStore:)`. Before that, its operations fail with `notConfigured`.
  ///
  ///     Martlet.configure(dataStore: try DataStore(models: [Post.self], storage: .file(path)))
  ///     try await Martlet.DataStore.save(post)
  public static var DataStore: MartletDataStore.DataStore {
    dataStoreHolder.store ?? MartletDataStore.DataStore.unconfigured
  }

  /// Makes `store` the one that `Martlet.DataStore` is, in place of an earlier one.
  ///
  /// Within `withDataStore` this is about its body alone.
  public static func configure(dataStore store: MartletDataStore.DataStore) {
    dataStoreHolder.store = store
  }

  /// Runs `body` with another store as `Martlet.DataStore`, which also the tasks that `body` starts see. For tests that
  /// run beside each other, and for programs with several stores.
  public static func withDataStore<Answer>(
    _ store: MartletDataStore.DataStore, _ body: () async throws -> Answer
  ) async rethrows -> Answer {
    try await $dataStoreHolder.withValue(DataStoreHolder(store), operation: body)
  }

  /// The same for code that does not wait.
  public static func withDataStore<Answer>(
    _ store: MartletDataStore.DataStore, _ body: () throws -> Answer
  ) rethrows -> Answer {
    try $dataStoreHolder.withValue(DataStoreHolder(store), operation: body)
  }
}

/// Holds the store, once there is one.
package final class DataStoreHolder: Sendable {
  private let held: Lock<MartletDataStore.DataStore?>

  package init(_ store: MartletDataStore.DataStore? = nil) {
    held = Lock(store)
  }

  var store: MartletDataStore.DataStore? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
