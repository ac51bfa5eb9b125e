internal import MartletGraphQLExecution

/// The operations of one request, which run side by side; their answer is sent when the last is done.
///
/// Confined to its loop.
final class BatchedOperation {
  private var results: [ResponseTree?]
  private var left: Int
  private var running: [RunningOperation] = []
  private var hasStarted = false
  private var completion: (([ResponseTree]) -> Void)?

  init(count: Int, _ completion: @escaping ([ResponseTree]) -> Void) {
    results = [ResponseTree?](repeating: nil, count: count)
    left = count
    self.completion = completion
  }

  var isOver: Bool { completion == nil }

  /// Keeps an operation, so that it can be cancelled.
  func add(_ operation: RunningOperation) {
    running.append(operation)
  }

  func finished(_ position: Int, _ result: ResponseTree) {
    results[position] = result
    left -= 1
    finishIfDone()
  }

  /// Nothing is answered before, as an operation may be done as soon as it is begun.
  func allStarted() {
    hasStarted = true
    finishIfDone()
  }

  private func finishIfDone() {
    guard hasStarted, left == 0, let completion else { return }
    self.completion = nil
    running = []
    completion(results.compactMap { $0 })
  }

  func cancel() {
    completion = nil
    for operation in running { operation.cancel() }
    running = []
  }
}
