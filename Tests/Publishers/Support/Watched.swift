import Synchronization

/// A value that several threads may use.
final class Watched<Value: Sendable>: Sendable {
  private let held: Mutex<Value>
  init(_ value: Value) { held = Mutex(value) }
  var value: Value {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
