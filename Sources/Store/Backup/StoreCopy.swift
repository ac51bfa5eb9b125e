internal import MartletRuntime
internal import MartletSQLite

/// A backup in progress. Confined to the writer's executor.
final class StoreCopy {
  let copy: DatabaseCopy
  let isWanted: @Sendable () -> Bool
  let completion: @Sendable (Result<Void, StoreError>) -> Void

  init(
    _ copy: DatabaseCopy, isWanted: @escaping @Sendable () -> Bool,
    completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    self.copy = copy
    self.isWanted = isWanted
    self.completion = completion
  }
}

extension Store {
  /// Copies the whole store, while reads and writes continue, into a folder or disk that holds no store yet.
  ///
  /// The writer copies some pages between two groups, through its own connection: SQLite then brings what is committed
  /// meanwhile into the copy, so that the copy ends under any load, without a long snapshot, and is the state after the
  /// last group before its end. `isWanted` is asked between steps. `completion` runs on the writer; what it got is not
  /// yet synced to the disk. A store opened on the copy begins a term of its own: clients that have seen more than the
  /// copy holds get one gap.
  ///
  /// - Throws: nothing; fails with `alreadyExists` when there is a store at `target`, or with what failed.
  package func backup(
    to target: StorePlace, isWanted: @escaping @Sendable () -> Bool = { true },
    completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    executor.execute { [self] in
      do {
        let file = try Self.scratch(target)
        step(Confined(StoreCopy(try writer.file.copy(into: file), isWanted: isWanted, completion: completion)))
      } catch {
        completion(
          .failure((error as? StoreError) ?? (error as? SQLiteError).map { StoreError($0) } ?? .unknown(error)))
      }
    }
  }

  private func step(_ running: Confined<StoreCopy>) {
    let copy = running.value
    do {
      guard !state.withLock({ $0.isClosed }), copy.isWanted() else {
        throw StoreError(.closed, "the backup was given up")
      }
      guard try copy.copy.step(limits.backupPages) else { return executor.execute { [self] in step(running) } }
      copy.completion(.success(()))
    } catch {
      copy.completion(
        .failure((error as? StoreError) ?? (error as? SQLiteError).map { StoreError($0) } ?? .unknown(error)))
    }
  }

  /// The database to copy into, without journal or sync: it counts only once it is complete and renamed.
  static func scratch(_ target: StorePlace) throws -> Database {
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
