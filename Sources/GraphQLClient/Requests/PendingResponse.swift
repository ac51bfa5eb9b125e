internal import MartletRuntime

/// The response of one query or mutation that is on its way: in one piece, or part by part. One task waits for it.
///
/// Everything is decided under one lock and acted on outside it.
package final class PendingResponse: Sendable {
  private struct Shared {
    /// Parts that arrived and were not taken, the first one first.
    var payloads: [OperationPayload] = []
    /// Bytes that may still arrive.
    var room: Int
    var end: End?
    var waiter: CheckedContinuation<Void, Never>?
    var onCancel: (@Sendable () -> Void)?
  }
  private enum End: Sendable { case complete, failed(any Error) }
  private let shared: Lock<Shared>

  /// - Parameter bytes: the longest response, all its parts together; a longer one fails with `responseTooLarge`.
  package init(bytes: Int) {
    shared = Lock(Shared(room: bytes))
  }

  // MARK: The connection's side

  /// What to do when the caller cancels; set before the operation starts.
  package func onCancel(_ cancel: @escaping @Sendable () -> Void) {
    shared.withLock { $0.onCancel = cancel }
  }

  /// Whether the caller has left or the response has ended: nothing needs to be sent for it.
  package var isOver: Bool { shared.withLock { $0.end != nil } }

  /// The response, or its next part.
  package func deliver(_ payload: OperationPayload) {
    let (waiter, isTooLarge) = shared.withLock { shared -> (CheckedContinuation<Void, Never>?, Bool) in
      guard shared.end == nil else { return (nil, false) }
      guard payload.bytes.count <= shared.room else { return (nil, true) }
      shared.room -= payload.bytes.count
      shared.payloads.append(payload)
      return (Self.taken(&shared.waiter), false)
    }
    waiter?.resume()
    if isTooLarge { leave(GraphQLClientError(.responseTooLarge, "the response is longer than the limit")) }
  }

  /// The operation is over. What was delivered before is still handed out; only the first end counts.
  package func finish(throwing error: (any Error)? = nil) {
    let waiter = shared.withLock { shared -> CheckedContinuation<Void, Never>? in
      guard shared.end == nil else { return nil }
      shared.end = error.map { .failed($0) } ?? .complete
      shared.onCancel = nil
      return Self.taken(&shared.waiter)
    }
    waiter?.resume()
  }

  private static func taken<Value>(_ value: inout Value?) -> Value? {
    defer { value = nil }
    return value
  }

  // MARK: The caller's side

  /// The response in one piece.
  /// - Throws: what the operation failed with; `invalidResponse` when it completed without a result;
  ///   `CancellationError`.
  package func whole() async throws -> OperationPayload {
    guard let payload = try await next() else { throw Self.withoutResult }
    return payload
  }

  static let withoutResult = GraphQLClientError(.invalidResponse, "the operation completed without a result")

  /// The next part; nil after the last one.
  /// - Throws: what the operation failed with, after the parts that arrived before; `CancellationError`.
  package func next() async throws -> OperationPayload? {
    while true {
      if Task.isCancelled { leave(CancellationError()) }
      let (payload, end) = shared.withLock { shared -> (OperationPayload?, End?) in
        if case .failed(is CancellationError) = shared.end { return (nil, shared.end) }
        return shared.payloads.isEmpty ? (nil, shared.end) : (shared.payloads.removeFirst(), nil)
      }
      if let payload { return payload }
      switch end {
      case .complete: return nil
      case .failed(let error): throw error
      case nil: await wait()
      }
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = shared.withLock { shared -> Bool in
          if !shared.payloads.isEmpty || shared.end != nil { return true }
          precondition(shared.waiter == nil, "one task waits for a response")
          shared.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      leave(CancellationError())
    }
  }

  /// Ends the operation from the caller's side.
  package func leave(_ error: any Error) {
    let onCancel = shared.withLock { $0.onCancel }
    finish(throwing: error)
    onCancel?()
  }
}
