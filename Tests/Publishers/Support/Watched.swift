import MartletRuntime

/// A value that several threads may use.
final class Watched<Value: Sendable>: Sendable {
  private let held: Lock<Value>
  init(_ value: Value) { held = Lock(value) }
  var value: Value {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
