package import MartletVocabulary

/// One read: what it does with a snapshot, and which closure gets the result.
package struct ReadRequest: Sendable {
  /// When the read gives up, waiting included; nil for the store's limit.
  package var deadline: Instant?
  /// Whether the read is a list, which is read in slices and after the reads that are not.
  let isScan: Bool
  /// Begins the read; the step it returns belongs to the reader that runs it.
  let begin: @Sendable () -> Step

  /// Runs the read for about so many rows; returns what is to run at the destination when the read is finished.
  typealias Step = (Result<ReadSnapshot, StoreError>, Int) -> (@Sendable () -> Void)?

  /// A short read: records by key, or the log. `read` runs on a reader thread in one snapshot, `completion` where the
  /// destination runs completions.
  package init<Value: Sendable>(
    deadline: Instant? = nil, read: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Value,
    completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    self.deadline = deadline
    isScan = false
    begin = {
      { snapshot, _ in
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

  /// A page of records, read in slices of `StoreLimits.sliceRows`, each in a snapshot of its own.
  package init(
    list query: ListQuery, deadline: Instant? = nil,
    completion: @escaping @Sendable (Result<ListPage, StoreError>) -> Void
  ) {
    self.init(
      deadline, completion: completion,
      start: { (snapshot) throws(StoreError) in try snapshot.scan(query) },
      advance: { (snapshot, scan, rows) throws(StoreError) in
        try snapshot.advance(&scan, rows: rows)
        return scan.isFinished ? scan.page : nil
      })
  }

  /// The first pages of many parents' children, read in slices, each in a snapshot of its own.
  package init(
    children query: ChildrenQuery, deadline: Instant? = nil,
    completion: @escaping @Sendable (Result<[ListPage], StoreError>) -> Void
  ) {
    self.init(
      deadline, completion: completion,
      start: { (snapshot) throws(StoreError) in try snapshot.scan(query) },
      advance: { (snapshot, scan, rows) throws(StoreError) in
        try snapshot.advance(&scan, rows: rows)
        return scan.isFinished ? scan.pages : nil
      })
  }

  private init<Scan, Value: Sendable>(
    _ deadline: Instant?, completion: @escaping @Sendable (Result<Value, StoreError>) -> Void,
    start: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Scan,
    advance: @escaping @Sendable (ReadSnapshot, inout Scan, Int) throws(StoreError) -> Value?
  ) {
    self.deadline = deadline
    isScan = true
    begin = {
      var scan: Scan?
      return { result, rows in
        do throws(StoreError) {
          let snapshot = try result.get()
          var going = if let scan { scan } else { try start(snapshot) }
          // One owner: the page found so far is not copied.
          scan = nil
          guard let value = try advance(snapshot, &going, rows) else {
            scan = going
            return nil
          }
          return { completion(.success(value)) }
        } catch {
          return { completion(.failure(error)) }
        }
      }
    }
  }
}
