import MartletPublishers
import MartletRuntime
import Testing

@Suite struct CancellableTests {
  @Test func `what is held is cancelled once: by hand, or when it is dropped`() {
    let cancels = Counted()
    let byHand = AnyCancellable { cancels.add() }
    byHand.cancel()
    byHand.cancel()
    #expect(cancels.count == 1)
    var dropped: AnyCancellable? = AnyCancellable { cancels.add() }
    #expect(dropped != nil)
    dropped = nil
    #expect(cancels.count == 2)
    var held: Set<AnyCancellable> = []
    AnyCancellable { cancels.add() }.store(in: &held)
    #expect(cancels.count == 2)
    held = []
    #expect(cancels.count == 3)
  }
}

/// A count that several threads may raise.
final class Counted: Sendable {
  private let number = Lock(0)
  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}
