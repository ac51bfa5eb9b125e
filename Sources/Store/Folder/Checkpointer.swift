internal import MartletRuntime
internal import MartletSQLite

/// Moves pages from the write-ahead log into the database beside the writer, on a connection and an executor of its
/// own: copying and syncing megabytes must not keep writes waiting.
///
/// What is written meanwhile stays in the log. The writer moves that small rest itself, so that the log can start over.
final class Checkpointer: Sendable {
  /// Pages of the connection's own cache: a checkpoint reads none of them.
  private static let cacheKiB: Int32 = 64

  private let executor: any StoreExecutor
  private let database: Confined<Database>
  private let isRunning = Lock(false)

  init(_ place: StorePlace, on executor: any StoreExecutor) throws(SQLiteError) {
    var settings = Database.Options()
    settings.cacheKiB = Self.cacheKiB
    self.executor = executor
    database = Confined(try Database(path: place.databasePath, on: place.files, options: settings))
  }

  /// Begins a checkpoint, unless one is under way. `completion` runs on the executor.
  func begin(_ completion: @escaping @Sendable (Result<Void, SQLiteError>) -> Void) {
    let begins = isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    guard begins else { return }
    executor.execute { [self] in
      let result = Result { () throws(SQLiteError) in _ = try database.value.checkpoint(.passive) }
      isRunning.withLock { $0 = false }
      completion(result)
    }
  }

  /// Ends the executor, after a checkpoint that is under way.
  func stop() { executor.stop() }
}
