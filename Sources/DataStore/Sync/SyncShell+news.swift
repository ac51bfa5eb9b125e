internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine

/// Who follows a store's sync. From any thread.
final class SyncNews: Sendable {
  private struct State {
    var last = DataStoreSyncStatus()
    var events: [Int: AsyncStream<DataStoreEvent>.Continuation] = [:]
    var statuses: [Int: AsyncStream<DataStoreSyncStatus>.Continuation] = [:]
    var next = 0
  }

  /// Events that wait for a slow consumer; older ones are dropped first.
  private static let waitingEvents = 10_000
  private let state = Lock(State())

  var status: DataStoreSyncStatus { state.withLock { $0.last } }

  func send(_ event: DataStoreEvent) {
    let consumers = state.withLock { state in state.events.sorted { $0.key < $1.key }.map(\.value) }
    for consumer in consumers { consumer.yield(event) }
  }

  func publish(_ status: DataStoreSyncStatus) {
    let consumers = state.withLock { state -> [AsyncStream<DataStoreSyncStatus>.Continuation] in
      guard state.last != status else { return [] }
      state.last = status
      return state.statuses.sorted { $0.key < $1.key }.map(\.value)
    }
    for consumer in consumers { consumer.yield(status) }
  }

  func events() -> AsyncStream<DataStoreEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.waitingEvents)) { continuation in
      let number = state.withLock { state in
        state.next += 1
        state.events[state.next] = continuation
        return state.next
      }
      continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.events.removeValue(forKey: number) }
      }
    }
  }

  func statuses() -> AsyncStream<DataStoreSyncStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = state.withLock { state in
        state.next += 1
        state.statuses[state.next] = continuation
        continuation.yield(state.last)
        return state.next
      }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.statuses.removeValue(forKey: number) }
      }
    }
  }
}

extension SyncShell {
  func move(_ number: Int64, _ progress: WriteProgress) {
    guard let handle = handles[number] else { return }
    switch progress {
    case .sent: handle.move(to: .sent)
    case .durable: handle.move(to: .durable)
    case .seen:
      handle.move(to: .seen)
      handles[number] = nil
    }
  }

  /// Passes an event of the engine on under the names of models.
  func announce(_ event: SyncHubEvent) {
    switch event {
    case .networkStatus(let active):
      status.isConnected = active
      if active { status.lastError = nil }
      news.send(.networkStatus(active: active))
    case .subscriptionsEstablished: news.send(.subscriptionsEstablished)
    case .syncQueriesStarted(let models): news.send(.syncQueriesStarted(models: models.map { mappings[$0].name }))
    case .modelSynced(let model, let isFull, let added, let deleted):
      news.send(
        .modelSynced(
          modelName: mappings[model].name, isFullSync: isFull, isDeltaSync: !isFull, added: added, deleted: deleted))
    case .modelTruncated(let model, let limit):
      news.send(.modelTruncated(modelName: mappings[model].name, limit: limit))
    case .syncQueriesReady: news.send(.syncQueriesReady)
    case .syncStarted: news.send(.syncStarted)
    case .ready: news.send(.ready)
    case .syncReceived(let change):
      let mapping = mappings[change.model]
      news.send(
        .syncReceived(
          modelName: mapping.name, modelId: mapping.text(change.key), version: change.image.version,
          isDeleted: change.image.record == nil))
    case .outboxMutationEnqueued(let number): news.send(.outboxMutationEnqueued(write: number))
    case .outboxMutationProcessed(let number): news.send(.outboxMutationProcessed(write: number))
    case .outboxMutationFailed(let number, let reason):
      news.send(.outboxMutationFailed(write: number, .init(reason)))
    case .outboxStatus(let isEmpty): news.send(.outboxStatus(isEmpty: isEmpty))
    case .conditionalSaveFailed(let number): news.send(.conditionalSaveFailed(write: number))
    case .failed(let failure): report(Self.error(failure))
    case .terminated(let failure):
      let error = Self.error(failure)
      status.lastError = error
      configuration.errorHandler(error)
      news.send(.terminated(error))
    }
  }

  private static func error(_ failure: SyncFailure) -> DataStoreError {
    switch failure {
    case .network: DataStoreError(.sync, "the server cannot be reached")
    case .overloaded: DataStoreError(.sync, "the server has no capacity now")
    case .unauthorized: DataStoreError(.sync, "the server does not accept the credentials")
    case .conditionFailed: DataStoreError(.sync, "a write's condition does not hold for the server's record")
    case .conflict: DataStoreError(.sync, "the server has another version of the record")
    case .refused(let code, let message): DataStoreError(.sync, "the server refused: \(code): \(message)")
    }
  }
}
