import MartletRuntime

/// How often something ran.
final class Count: Sendable {
  private let count = Lock(0)

  var value: Int { count.withLock { $0 } }

  func add() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
