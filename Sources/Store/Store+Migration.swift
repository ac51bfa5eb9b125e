internal import MartletRuntime

extension Store {
  /// Changes the folder to other models while it is open. Models and fields that are there keep their numbers; nothing
  /// is dropped. Reads and writes continue, each by the models from before or from after.
  ///
  /// When it returns, every read and write that begins knows the new models. Returns at once when nothing differs.
  ///
  /// - Throws: `migration`, with every reason, or what kept the disk from being written; nothing was changed then.
  /// `text` is the schema's text, for the log.
  ///
  /// - Returns: what an operator should repair.
  @discardableResult
  package func migrate(
    to shapes: [RecordShape], schema name: String, text: String = "", allowsDuplicates: Bool = false
  ) async throws(StoreError) -> [String] {
    let isClosed = state.withLock { $0.isClosed }
    guard !isClosed else { throw StoreError(.closed, "the store is closed") }
    let result: Result<([RecordShape], [String]), StoreError> = await withCheckedContinuation { continuation in
      executor.execute { [self] in
        guard case .authority(let writer) = writer else {
          let refusal = StoreError(.notAuthority, "this store follows another one's log; its authority migrates")
          return continuation.resume(returning: .failure(refusal))
        }
        do throws(StoreError) {
          let (batch, warnings) = try writer.migrate(
            to: shapes, schema: name, text: text, allowsDuplicates: allowsDuplicates)
          let numbered = writer.file.shapes
          served.withLock { $0 = numbered }
          // What it holds has the shape of the old models.
          recent.removeAll()
          deliver(AuthorityWriter.Outcome(batch: batch), to: [])
          continuation.resume(returning: .success((numbered, warnings)))
        } catch {
          if error.code == .notAuthority || error.code == .outcomeUnknown { resign() }
          continuation.resume(returning: .failure(error))
        }
      }
    }
    let (numbered, warnings) = try result.get()
    for reader in readers {
      await withCheckedContinuation { continuation in reader.adopt(numbered) { continuation.resume() } }
    }
    return warnings
  }
}
