internal import MartletJSON

/// One consumer's watch. Confined to its consumer's task, but for the signal.
final class Watcher {
  private let results: StoreResults
  private let signal = WatchSignal()
  private var number: Int?
  private var prepared: RepeatedOperation?
  private var steps: PolicySteps
  /// What was handed out last.
  private var shown: JSONValue?
  /// Requests since something new was seen.
  private var refetches = 0
  private var isOver = false

  init(_ results: StoreResults) {
    self.results = results
    steps = PolicySteps(results.policy)
  }

  deinit {
    if let number { results.store.forget(watcher: number) }
  }

  func next() async throws -> StoreResult? {
    while !isOver {
      if Task.isCancelled { break }
      let result: StoreResult?
      switch steps.next {
      case .cache:
        result = try read()
        steps.read(isComplete: result?.isPartial == false)
      case .network:
        steps.asked()
        result = try await ask()
      case .over:
        await signal.wait()
        if Task.isCancelled { continue }
        result = try await look()
      }
      if let result { return result }
    }
    leave()
    return nil
  }

  private func leave() {
    isOver = true
    if let number { results.store.forget(watcher: number) }
    number = nil
  }

  /// Reads the store and notes what was read; nil when it is not enough to show.
  private func refresh() throws -> StoreResult? {
    let operation = try prepared ?? results.store.prepare(results.operation)
    prepared = operation
    let number = try number ?? results.store.add(watcher: signal)
    self.number = number
    signal.lower()
    return try operation.read(watcher: number, allowingPartial: results.allowsPartial)
  }

  /// As `refresh`, when it is something new.
  private func read() throws -> StoreResult? {
    guard let found = try refresh(), found.data != shown else { return nil }
    shown = found.data
    refetches = 0
    return found
  }

  /// Something that was read has changed. Shows it; what is missing is asked for, now or, if there is something to show
  /// first, next.
  private func look() async throws -> StoreResult? {
    let mayAsk = results.policy != .cacheOnly && refetches < results.store.configuration.limits.refetches
    guard let found = try refresh() else {
      guard mayAsk else { return nil }
      refetches += 1
      return try await ask()
    }
    guard found.data != shown else { return nil }
    shown = found.data
    if !found.isPartial {
      refetches = 0
    } else if mayAsk {
      refetches += 1
      steps.askAgain()
    }
    return found
  }

  private func ask() async throws -> StoreResult? {
    let payload: StorePayload
    let generation = results.store.generation
    do {
      payload = try await results.fetch()
    } catch {
      return try failed(error)
    }
    let operation = try prepared ?? results.store.prepare(results.operation)
    let failure = operation.keep(payload, since: generation)
    if generation != results.store.generation {
      // The store was cleared meanwhile, as when somebody signs out: this is the answer to another.
      steps.askAgain()
      return nil
    }
    // What the store has now is what later changes are compared with. Where it lacks something, such as a field that
    // failed, the server's own data are shown.
    let stored = try refresh()
    var result = try operation.projected(payload)
    result.storeError = failure
    if payload.errors.isEmpty, let stored, !stored.isPartial { result.data = stored.data }
    if result.data == shown, payload.errors.isEmpty, failure == nil { return nil }
    if result.data != shown { refetches = 0 }
    shown = result.data
    return result
  }

  private func failed(_ error: any Error) throws -> StoreResult? {
    if Task.isCancelled { return nil }
    if shown == nil, results.policy == .networkFirst, var found = try read() {
      found.fetchError = error
      return found
    }
    guard let shown else { throw error }
    return StoreResult(data: shown, source: .cache, fetchError: error)
  }
}

extension GraphQLStore {
  func add(watcher signal: WatchSignal) throws(GraphQLStoreError) -> Int {
    try exclusively { $0.watchers.add(signal) }
  }
}
