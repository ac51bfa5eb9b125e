internal import MartletRuntime
internal import MartletSQLite

/// A backup in progress: the writer copies some pages between two groups, through its own connection. SQLite brings
/// what is committed meanwhile into the copy. Confined to the writer's executor.
final class StoreCopy {
  private let copy: DatabaseCopy
  private let pages: Int32
  /// Pages that the last step left; nil before the first one.
  private var remaining: Int32?
  private let isWanted: @Sendable () -> Bool
  private let completion: @Sendable (Result<Void, StoreError>) -> Void

  /// Begins a copy. `isWanted` is asked between steps of so many pages.
  init(
    of file: StoreFile, in target: StorePlace, pages: Int32, isWanted: @escaping @Sendable () -> Bool,
    completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) throws {
    copy = try file.copy(into: try Self.file(at: target))
    self.pages = pages
    self.isWanted = isWanted
    self.completion = completion
  }

  /// Begins a copy and makes its first step.
  static func begin(
    of file: StoreFile, in target: StorePlace, _ limits: StoreLimits, isWanted: @escaping @Sendable () -> Bool,
    _ completion: @escaping @Sendable (Result<Void, StoreError>) -> Void, on executor: any StoreExecutor
  ) {
    do {
      let copy = try StoreCopy(
        of: file, in: target, pages: limits.backupPages, isWanted: isWanted, completion: completion)
      copy.step(on: executor)
    } catch {
      completion(.failure(StoreError(reading: error)))
    }
  }

  /// Copies some pages and gives the rest to the executor, after the writes that wait.
  func step(on executor: any StoreExecutor) {
    do {
      guard isWanted() else { throw StoreError(.closed, "the backup was given up") }
      guard try proceed() else {
        let running = Confined(self)
        return executor.execute { running.value.step(on: executor) }
      }
      completion(.success(()))
    } catch {
      completion(.failure(StoreError(reading: error)))
    }
  }

  /// Copies some pages; true when the copy is complete. What the groups since the last step have added is copied
  /// besides, so that fewer pages remain after each step and the copy ends however much is written.
  private func proceed() throws -> Bool {
    let before = remaining
    var isComplete = try copy.step(pages)
    if let before, !isComplete {
      let added = copy.remainingPages - (before - pages)
      if added > 0 { isComplete = try copy.step(added) }
    }
    remaining = copy.remainingPages
    return isComplete
  }

  /// The database to copy into, without journal or sync: it counts only once it is complete and renamed.
  static func file(at target: StorePlace) throws -> Database {
    var options = Database.Options()
    options.isScratch = true
    let file = try Database(path: target.databasePath, on: target.files, options: options)
    let tables = try file.prepare("SELECT count(*) FROM sqlite_schema")
    if try tables.step(), tables.int64(0) > 0 {
      throw StoreError(.alreadyExists, "there is a store at \(target.databasePath) already")
    }
    return file
  }
}

extension StoreError {
  static func unknown(_ error: any Error) -> StoreError { StoreError(.failed, "\(error)") }
}
