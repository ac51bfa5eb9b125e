import MartletRuntime
import MartletTestSupport
import MartletVocabulary
import Testing

@testable import MartletServer

@Suite struct MovingTimerTests {
  private let loop = ClockedLoop(StepLoop())

  @Test func `a deadline that is moved a thousand times sets one timer, and comes when it was set last`() {
    let timer = MovingTimer(on: loop)
    var fired: [Instant] = []
    timer.expire = { fired.append(loop.now) }
    let start = loop.now
    for _ in 0..<1_000 {
      timer.set(at: loop.now + .seconds(30))
      loop.advanceNow(.milliseconds(10))
    }
    #expect(loop.scheduled == 1)
    loop.advanceNow(.seconds(60))
    #expect(fired == [start + .milliseconds(9_990) + .seconds(30)])
    #expect(loop.scheduled == 2)
  }

  @Test func `an earlier deadline comes at its time`() {
    let timer = MovingTimer(on: loop)
    var fired: [Instant] = []
    timer.expire = { fired.append(loop.now) }
    let start = loop.now
    timer.set(at: start + .seconds(75))
    timer.set(at: start + .seconds(30))
    loop.advanceNow(.seconds(100))
    #expect(fired == [start + .seconds(30)])
  }

  @Test func `a deadline that was taken back does not come, and a later one does`() {
    let timer = MovingTimer(on: loop)
    var fired: [Instant] = []
    timer.expire = { fired.append(loop.now) }
    let start = loop.now
    timer.set(at: start + .seconds(10))
    timer.cancel()
    loop.advanceNow(.seconds(20))
    #expect(fired.isEmpty)
    timer.set(at: start + .seconds(40))
    timer.cancel()
    timer.set(at: start + .seconds(50))
    loop.advanceNow(.seconds(100))
    #expect(fired == [start + .seconds(50)])
    timer.set(at: loop.now + .seconds(1))
    timer.end()
    loop.advanceNow(.seconds(5))
    #expect(fired.count == 1)
  }

  @Test func `a deadline that is set while one expires comes as well`() {
    let timer = MovingTimer(on: loop)
    var fired: [Instant] = []
    let start = loop.now
    timer.expire = {
      fired.append(loop.now)
      if fired.count == 1 { timer.set(at: loop.now + .seconds(5)) }
    }
    timer.set(at: start + .seconds(10))
    loop.advanceNow(.seconds(60))
    #expect(fired == [start + .seconds(10), start + .seconds(15)])
  }
}
