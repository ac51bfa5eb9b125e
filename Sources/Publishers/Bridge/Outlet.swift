#if canImport(Combine)
  internal import Combine
#endif

/// What one subscriber has not taken yet, handed to it in order, one call at a time, no more than it asked for.
///
/// `@unchecked Sendable` holds because every variable is touched only inside `guarded`, and the subscriber is called
/// only by the one thread that runs the drain.
final class Outlet<Output, Failure: Error>: Subscription, @unchecked Sendable {
  private enum Step {
    case value(any Subscriber<Output, Failure>, Output)
    case end(any Subscriber<Output, Failure>, Subscribers.Completion<Failure>)
  }

  /// Values that may wait for one subscriber before its source is held: enough that a consumer on another queue is
  /// never idle, and little memory.
  static var limit: Int { 256 }

  private let guarded = Guard()
  private var subscriber: (any Subscriber<Output, Failure>)?
  private var waiting = Waiting<Output>()
  private var demand = Subscribers.Demand.none
  private var completion: Subscribers.Completion<Failure>?
  private var isOpen = false
  private var isDraining = false
  private let run: (@escaping () -> Void) -> Void
  private let isCancelledAbove: () -> Bool
  private let onTaken: () -> Void
  private let onCancel: (Outlet) -> Void

  /// - Parameters:
  ///   - run: where the subscriber is called.
  ///   - isCancelledAbove: whether the source was cancelled, so that pending values are no longer handed out.
  ///   - onTaken: called after each value that the subscriber took.
  ///   - onCancel: called once, when the subscriber cancels.
  init(
    _ subscriber: any Subscriber<Output, Failure>, run: @escaping (@escaping () -> Void) -> Void = { $0() },
    isCancelledAbove: @escaping () -> Bool = { false }, onTaken: @escaping () -> Void,
    onCancel: @escaping (Outlet) -> Void
  ) {
    self.subscriber = subscriber
    self.run = run
    self.isCancelledAbove = isCancelledAbove
    self.onTaken = onTaken
    self.onCancel = onCancel
  }

  var hasRoom: Bool { guarded { subscriber == nil || waiting.count < Self.limit } }

  /// The subscriber has its subscription; values may follow.
  func open() {
    guarded { isOpen = true }
    drain()
  }

  func send(_ value: Output) {
    let isTaken = guarded {
      guard subscriber != nil, completion == nil else { return false }
      waiting.append(value)
      return true
    }
    if isTaken { drain() }
  }

  /// Nothing follows; what waits is handed out first, unless it is discarded.
  func finish(_ end: Subscribers.Completion<Failure>, discarding: Bool = false) {
    guarded {
      if completion == nil { completion = end }
      if discarding { waiting.removeAll() }
    }
    drain()
  }

  func request(_ more: Subscribers.Demand) {
    guarded { demand += more }
    drain()
  }

  func cancel() {
    let wasLive = guarded {
      defer {
        subscriber = nil
        waiting.removeAll()
      }
      return subscriber != nil
    }
    if wasLive { onCancel(self) }
  }

  private func drain() {
    let starts = guarded {
      guard isOpen, !isDraining, isDue else { return false }
      isDraining = true
      return true
    }
    if starts { run(handOut) }
  }

  /// Whether the subscriber has something coming.
  private var isDue: Bool {
    guard subscriber != nil else { return false }
    return waiting.count == 0 ? completion != nil : isPositive(demand)
  }

  private func handOut() {
    while let step = guarded({ next() }) {
      switch step {
      case .value(let subscriber, let value):
        let more = subscriber.receive(value)
        guarded { demand += more }
        onTaken()
      case .end(let subscriber, let completion): subscriber.receive(completion: completion)
      }
    }
  }

  /// The next call; nil ends the drain.
  private func next() -> Step? {
    if waiting.count > 0, isCancelledAbove() {
      waiting.removeAll()
      if completion == nil { completion = .finished }
    }
    guard isDue, let subscriber else {
      isDraining = false
      return nil
    }
    if let value = waiting.take() {
      if demand != .unlimited { demand = .max(max(0, (demand.max ?? 1) - 1)) }
      return .value(subscriber, value)
    }
    self.subscriber = nil
    return completion.map { .end(subscriber, $0) }
  }

  private func isPositive(_ demand: Subscribers.Demand) -> Bool { demand.max.map { $0 > 0 } ?? true }
}

/// Values in the order they came.
struct Waiting<Value> {
  private var values: [Value?] = []
  private var head = 0

  var count: Int { values.count - head }

  mutating func append(_ value: Value) { values.append(value) }

  mutating func take() -> Value? {
    guard head < values.count else { return nil }
    let value = values[head]
    values[head] = nil
    head += 1
    if head == values.count || head >= 256 {
      values.removeFirst(head)
      head = 0
    }
    return value
  }

  mutating func removeAll() {
    values = []
    head = 0
  }
}
