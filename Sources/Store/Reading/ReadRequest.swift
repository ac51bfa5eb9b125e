package import MartletVocabulary

/// One read: what it does with a snapshot, and who hears of it.
package struct ReadRequest: Sendable {
  /// When the read gives up, waiting included; nil for the store's limit.
  package var deadline: Instant?
  /// Runs the read on a reader and answers what is to run at the destination.
  let perform: @Sendable (Result<ReadSnapshot, StoreError>) -> @Sendable () -> Void

  /// `read` runs on a reader thread, `completion` where the destination runs completions.
  package init<Value: Sendable>(
    deadline: Instant? = nil, read: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Value,
    completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    self.deadline = deadline
    perform = { snapshot in
      let result: Result<Value, StoreError>
      do throws(StoreError) {
        result = .success(try read(try snapshot.get()))
      } catch {
        result = .failure(error)
      }
      return { completion(result) }
    }
  }
}
