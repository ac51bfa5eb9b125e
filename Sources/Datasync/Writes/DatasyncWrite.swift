public import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient

/// A write on its way: listeners see it at once, and it ends as exactly one of acknowledged, rejected and purged.
///
/// The handle need not be kept.
public final class DatasyncWrite: Sendable {
  /// Where a write stands.
  public enum State: Sendable, Hashable {
    /// The server has not answered.
    case pending
    /// The server has made it.
    case acknowledged
    /// The server refused it, or it cannot be made.
    case rejected(DatasyncError)
  }

  /// What the server says of a write that it has made.
  public struct Acknowledgement: Sendable, Hashable {
    /// The revision that the write became, opaque; nil from servers that do not say.
    public let revision: String?
    /// What a server value became, such as the number after an increment; null when the server does not say.
    public let value: JSONValue
  }

  private struct Inner {
    var id: Int64?
    var result: Result<Acknowledgement, DatasyncError>?
    var waiters: [Int: CheckedContinuation<Acknowledgement, any Error>] = [:]
    var nextWaiter = 0
  }
  private let inner = Lock(Inner())

  init() {}

  /// Names the write in rejections; nil until it has been queued.
  public var id: Int64? { inner.withLock { $0.id } }

  /// Where it stands now.
  public var state: State {
    switch inner.withLock({ $0.result }) {
    case nil: .pending
    case .success?: .acknowledged
    case .failure(let error)?: .rejected(error)
    }
  }

  /// Returns when the server has made the write.
  /// - Throws: why it was refused; `denied` names path and rule. `CancellationError` when the waiting task was
  ///   cancelled, which does not take back the write.
  @discardableResult
  public func acknowledged() async throws -> Acknowledgement {
    let number = inner.withLock { inner -> Int in
      inner.nextWaiter += 1
      return inner.nextWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known = inner.withLock { inner -> Result<Acknowledgement, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if let result = inner.result { return result.mapError { $0 } }
          inner.waiters[number] = continuation
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let waiter = inner.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }

  func queued(as id: Int64) { inner.withLock { $0.id = id } }

  func end(_ settlement: TreeClient.Settlement) {
    switch settlement {
    case .acknowledged(let revision, let value): end(.success(Acknowledgement(revision: revision, value: value)))
    case .rejected(let status, let reason): end(.failure(DatasyncError(status: status, reason: reason)))
    case .purged: end(.failure(DatasyncError(.purged, "the write was dropped from the queue")))
    case .aborted: end(.failure(DatasyncError(.aborted, "the transaction's function returned no value")))
    }
  }

  func end(_ result: Result<Acknowledgement, DatasyncError>) {
    let waiters = inner.withLock { inner -> [CheckedContinuation<Acknowledgement, any Error>] in
      guard inner.result == nil else { return [] }
      inner.result = result
      defer { inner.waiters = [:] }
      return Array(inner.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result.mapError { $0 }) }
  }
}

/// When a write is made.
public enum DatasyncMoment: Sendable, Hashable {
  /// At once.
  case now
  /// Once, by the server, when this client's connection ends.
  case nextDisconnection
  /// By the server whenever this client's connection ends: it is registered again with each connection.
  case everyDisconnection
}

/// A write of the queue, as the application may see it.
public struct DatasyncQueuedWrite: Sendable, Hashable {
  /// The write, as its handle names it.
  public let id: Int64
  /// The node that it replaces, or below which it replaces nodes.
  public let path: String
  /// The new value; of a merge the values by relative path.
  public let value: JSONValue
  /// Whether the value is merged into the node.
  public let isMerge: Bool
}
