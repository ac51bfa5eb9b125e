/// Where a `DataStore` keeps its records.
public struct DataStoreStorage: Sendable, Hashable {
  enum Place: Sendable, Hashable {
    case file(String, key: String?)
    case memory
  }

  let place: Place

  /// A SQLite file at `path`, which is created when there is none. Give each user of a device a file of their own.
  public static func file(_ path: String) -> DataStoreStorage { DataStoreStorage(place: .file(path, key: nil)) }

  /// The same, encrypted with `key`. The program must link a SQLite that encrypts, such as SQLCipher, in place of the
  /// system's; otherwise opening fails with `storage` and nothing is written.
  public static func encryptedFile(_ path: String, key: String) -> DataStoreStorage {
    DataStoreStorage(place: .file(path, key: key))
  }

  /// Memory: the records are gone with the store. For tests and previews.
  public static var inMemory: DataStoreStorage { DataStoreStorage(place: .memory) }
}
