internal import MartletRuntime
internal import MartletVocabulary

/// A connection that is not read for a while, because its caller has used what it may use.
///
/// Confined to its loop.
final class ReadingPause {
  private let pauses: ReadingPauses
  private var timer: LoopTimer?
  private var work: (() -> Void)?

  fileprivate init(_ pauses: ReadingPauses, _ work: @escaping () -> Void) {
    self.pauses = pauses
    self.work = work
  }

  fileprivate func begin(until end: Instant, on loop: any Loop) {
    timer = loop.schedule(at: end) { [weak self] in
      guard let self, work != nil else { return }
      timer = nil
      pauses.gate.wait { self.take()?() }
    }
  }

  /// The connection is over: nothing is called.
  func cancel() {
    timer?.cancel()
    _ = take()
  }

  private func take() -> (() -> Void)? {
    guard let work else { return nil }
    self.work = nil
    pauses.ended()
    return work
  }
}

/// Has connections that are not read for a while come back one after the other. Those of one caller are refused
/// together, as soon as it has used what it may use. If they came back together, they would find together what it may
/// use again, and use it in one turn, in which no other client is served.
///
/// Confined to its loop.
final class ReadingPauses {
  fileprivate let gate: MessageGate
  private let loop: any Loop
  private var waiting = 0
  /// How many have begun since none waited.
  private var begun: UInt32 = 0

  init(on loop: any Loop, _ gate: MessageGate) {
    self.loop = loop
    self.gate = gate
  }

  /// Calls `work` after `time` where no other connection waits, else after up to twice that.
  func wait(_ time: Duration, then work: @escaping () -> Void) -> ReadingPause {
    if waiting == 0 { begun = 0 }
    // Multiples of the golden ratio: however many there are, their parts after the point lie at even distances.
    let share = Double(begun &* 2_654_435_769) / 4_294_967_296
    begun &+= 1
    waiting += 1
    let more = Int64(Double(time.wholeNanoseconds) * share)
    let pause = ReadingPause(self, work)
    pause.begin(until: loop.now + time + .nanoseconds(more), on: loop)
    return pause
  }

  fileprivate func ended() { waiting -= 1 }
}
