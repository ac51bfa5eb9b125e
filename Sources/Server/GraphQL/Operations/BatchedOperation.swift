internal import MartletGraphQLExecution

/// The operations of one request, which run side by side; their answer is sent when the last is done.
///
/// Confined to its loop.
final class BatchedOperation {
  private var results: [ResponseTree?]
  private var left: Int
  private var running: [RunningOperation] = []
  /// Documents that are being planned; letting go of them calls it off.
  private var preparing: [Int: Preparation] = [:]
  private var hasStarted = false
  private var completion: (([ResponseTree]) -> Void)?

  init(count: Int, _ completion: @escaping ([ResponseTree]) -> Void) {
    results = [ResponseTree?](repeating: nil, count: count)
    left = count
    self.completion = completion
  }

  var isOver: Bool { completion == nil }

  /// What has become of one operation.
  enum Progress {
    case preparing(Preparation)
    case running(RunningOperation)
    case done(ResponseTree)
  }

  /// Keeps what can be cancelled of the operation at `position`, or its result.
  func report(_ position: Int, _ progress: Progress) {
    guard !isOver else { return }
    preparing[position] = nil
    switch progress {
    case .preparing(let preparation): preparing[position] = preparation
    case .running(let operation): running.append(operation)
    case .done(let result):
      results[position] = result
      left -= 1
      finishIfDone()
    }
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
    preparing = [:]
  }
}
