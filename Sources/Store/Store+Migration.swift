internal import MartletRuntime

extension Store {
  /// Changes the folder to other models while it is open. Models and fields that are there keep their numbers; nothing
  /// is dropped. Reads and writes continue, each by the models from before or from after.
  ///
  /// When it returns, every read and write that begins knows the new models. Returns at once when nothing differs.
  ///
  /// - Throws: `migration`, with every reason, or what kept the disk from being written; nothing was changed then.
  package func migrate(to shapes: [RecordShape], schema name: String) async throws(StoreError) {
    let isClosed = state.withLock { $0.isClosed }
    guard !isClosed else { throw StoreError(.closed, "the store is closed") }
    let result: Result<[RecordShape], StoreError> = await withCheckedContinuation { continuation in
      executor.execute { [self] in
        guard case .authority(let writer) = writer.value else {
          let refusal = StoreError(.notAuthority, "this store follows another one's log; its authority migrates")
          return continuation.resume(returning: .failure(refusal))
        }
        do throws(StoreError) {
          let batch = try writer.migrate(to: shapes, schema: name)
          let numbered = writer.file.shapes
          served.withLock { $0 = numbered }
          // What it holds has the shape of the old models.
          recent.removeAll()
          deliver(AuthorityWriter.Outcome(batch: batch), to: [])
          continuation.resume(returning: .success(numbered))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    let numbered = try result.get()
    for reader in readers {
      await withCheckedContinuation { continuation in reader.adopt(numbered) { continuation.resume() } }
    }
  }
}
