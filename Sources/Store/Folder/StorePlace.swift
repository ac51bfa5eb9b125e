package import MartletSQLite

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Where a store's files are.
package enum StorePlace: Sendable {
  /// A folder on the machine's disk. It is created when missing and locked while open.
  case folder(String)
  /// An imaginary disk in memory.
  case memory(MemoryFiles)

  /// A new, empty disk in memory.
  package static var emptyMemory: StorePlace { .memory(MemoryFiles()) }

  /// The database's path on its disk.
  var databasePath: String {
    switch self {
    case .folder(let folder): folder + "/" + StoreFormat.databaseName
    case .memory: StoreFormat.databaseName
    }
  }

  /// Whether a database has been made here. An in-memory disk is only named by its owner.
  var holdsDatabase: Bool {
    switch self {
    case .folder: unsafe access(databasePath, F_OK) == 0
    case .memory: true
    }
  }

  var files: MemoryFiles? {
    switch self {
    case .folder: nil
    case .memory(let files): files
    }
  }
}

/// The format of a data folder: which files, and the number that says how to read them.
package enum StoreFormat {
  /// The version this code writes. Older ones are taken over at opening, newer ones are refused.
  package static let version: Int64 = 2
  /// The version of a folder in which a large write was inserted in slices (`HiddenRows`); it is as `version` else.
  static let stagingVersion: Int64 = 3
  /// The newest version that this code reads.
  package static let newest = stagingVersion
  /// Marks the database as Martlet's: "Mart" in ASCII.
  static let applicationID: Int64 = 0x4D61_7274
  package static let databaseName = "store.sqlite"
  package static let lockName = "LOCK"
  /// What the names of folders begin with that hold the stores of further trees, inside the first store's folder.
  package static let namespacePrefix = "namespace-"
}
