/// Where a `DataStore` keeps its records.
public struct DataStoreStorage: Sendable, Hashable {
  enum Place: Sendable, Hashable {
    case file(String)
    case memory
  }

  let place: Place

  /// A SQLite file at `path`, which is created when there is none. Give each user of a device a file of their own.
  public static func file(_ path: String) -> DataStoreStorage { DataStoreStorage(place: .file(path)) }

  /// Memory: the records are gone with the store. For tests and previews.
  public static var inMemory: DataStoreStorage { DataStoreStorage(place: .memory) }
}
