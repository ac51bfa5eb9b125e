public import MartletGraphQLClient
internal import MartletRuntime

extension Martlet {
  private static let configured = Lock<MartletDataStore.DataStore?>(nil)

  /// The store given to `configure(dataStore:)`. Before that, its operations fail with `notConfigured`.
  ///
  ///     Martlet.configure(dataStore: try DataStore(models: [Post.self], storage: .file(path)))
  ///     try await Martlet.DataStore.save(post)
  public static var DataStore: MartletDataStore.DataStore {
    configured.withLock { $0 } ?? MartletDataStore.DataStore.unconfigured
  }

  /// Makes `store` the one that `Martlet.DataStore` is, in place of an earlier one.
  public static func configure(dataStore store: MartletDataStore.DataStore) {
    configured.withLock { $0 = store }
  }
}
