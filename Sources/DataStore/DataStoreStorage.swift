internal import Foundation

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

  /// The same place, by the one name that all of a file's names lead to: what its processes share stands beside the
  /// file under that name, and the working folder may change.
  func resolved() throws(DataStoreError) -> DataStoreStorage {
    guard case .file(let path, let key) = place else { return self }
    // SQLite would take it for a file that is gone with the store.
    guard !path.isEmpty else { throw DataStoreError(.storage, "the path of the store's file is empty") }
    return DataStoreStorage(place: .file(URL(fileURLWithPath: path).resolvingSymlinksInPath().path, key: key))
  }
}
