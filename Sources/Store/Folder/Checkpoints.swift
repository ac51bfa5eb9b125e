internal import MartletSQLite

/// When the writer's pages are moved into the database: beside the writer where there is an executor for it, by the
/// writer where there is none and where it cannot wait. Confined to the writer's executor, apart from its making.
final class Checkpoints: Sendable {
  private let beside: Checkpointer?
  private let writer: any StoreExecutor
  private let limits: StoreLimits
  private let onFailure: @Sendable (StoreError) -> Void

  init(_ place: StorePlace, _ options: StoreOptions) throws(SQLiteError) {
    if let executor = options.checkpointer {
      beside = try Checkpointer(place, on: executor)
    } else {
      beside = nil
    }
    writer = options.writer
    limits = options.limits
    onFailure = options.onFailure
  }

  /// Begins a checkpoint if one is due.
  ///
  /// - Parameter isFull: Whether the last group found a full disk.
  func run(_ file: StoreFile, isFull: Bool) {
    if isFull, file.holdsLogPages {
      // Perhaps only the write-ahead log cannot grow: from then on it starts over.
      return report(file.checkpoint(.passive, limits))
    }
    guard let mode = file.dueCheckpoint(limits) else { return }
    guard let beside, mode == .passive else { return report(file.checkpoint(mode, limits)) }
    file.checkpointBegins()
    let file = Confined(file)
    beside.begin { [weak self, writer] result in
      writer.execute { self?.ended(file.value, result) }
    }
  }

  /// Moves what was written during a checkpoint, unless that is enough for another one.
  private func ended(_ file: StoreFile, _ result: Result<Void, SQLiteError>) {
    switch result {
    case .failure(let error): report(file.checkpointFailed(error))
    case .success:
      if file.dueCheckpoint(limits) != nil { return run(file, isFull: false) }
      if file.failure == nil { report(file.checkpoint(.passive, limits)) }
    }
  }

  private func report(_ failure: StoreError?) {
    if let failure { onFailure(failure) }
  }

  /// Ends the executor beside the writer.
  func stop() { beside?.stop() }
}
