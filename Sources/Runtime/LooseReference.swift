/// A reference that does not keep its object, in place of a weak one: nil once the object is gone.
///
/// The first weak reference gives an object a side table as long as it exists, and with it every retain and release
/// of the object takes several times as long. An object that a fan-out retains thousands of times a second owns one of
/// these instead, and its timers and completions hold it.
///
/// ```swift
/// final class Session {
///   private let loose = LooseReference<Session>()
///   init() { loose.refer(to: self) }
///   deinit { loose.clear() }
///   func start() { loop.schedule(at: deadline) { [loose] in loose.object?.expire() } }
/// }
/// ```
///
/// Confined to one thread, as its object is.
@safe
package final class LooseReference<Object: AnyObject> {
  /// Never read after the object is gone: its `deinit`, on the same thread, clears it.
  private unowned(unsafe) var target: Object?

  package init() {}

  /// The object, while there is one.
  package var object: Object? { unsafe target }

  /// Called by the object itself, once.
  package func refer(to object: Object) { unsafe target = object }

  /// Called by the object's `deinit`.
  package func clear() { unsafe target = nil }
}
