internal import MartletRuntime
internal import MartletVocabulary

/// The operations of one loop that are under way, in the order in which their time ends: all have the same time.
///
/// One timer serves them all, so that an operation that ends in time sets none. Confined to its loop.
final class OperationDeadlines {
  private let timer: MovingTimer
  private let loop: any Loop
  /// Nil where an operation has ended.
  private var entries: [RunningOperation?] = []
  /// The number of the first entry; an operation keeps its own.
  private var firstNumber = 0
  /// Entries before this one are nil.
  private var head = 0
  private var underWay = 0

  /// A list of at most so many entries is not made shorter while operations are under way.
  private static let small = 64

  init(on loop: any Loop) {
    self.loop = loop
    timer = MovingTimer(on: loop)
    timer.expire = { [weak self] in self?.expire() }
  }

  /// Adds an operation whose deadline is not before that of any other.
  func add(_ operation: RunningOperation) {
    operation.number = firstNumber + entries.count
    entries.append(operation)
    underWay += 1
    if underWay == 1 { timer.set(at: operation.deadline) }
  }

  /// Removes an operation that has ended.
  func remove(_ operation: RunningOperation) {
    guard let number = operation.number else { return }
    operation.number = nil
    entries[number - firstNumber] = nil
    underWay -= 1
    if underWay == 0 {
      timer.cancel()
      firstNumber += entries.count
      entries.removeAll(keepingCapacity: entries.capacity <= Self.small)
      head = 0
    } else {
      while entries[head] == nil { head += 1 }
      if entries.count > Self.small, entries.count > 2 * underWay { compact() }
    }
  }

  /// Drops the entries of operations that have ended.
  private func compact() {
    firstNumber += entries.count
    head = 0
    entries.removeAll { $0 == nil }
    for (index, operation) in entries.enumerated() { operation?.number = firstNumber + index }
  }

  /// Ends the operations whose time is over.
  private func expire() {
    while underWay > 0, let operation = entries[head], operation.deadline <= loop.now {
      remove(operation)
      operation.expire()
    }
    if underWay > 0, let operation = entries[head] { timer.set(at: operation.deadline) }
  }
}
