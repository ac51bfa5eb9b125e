import Foundation
import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct ReadyLineTests {
  private static func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private static func turn(_ line: inout ReadyLine, isFull: Bool, hasMark: Bool, at now: Instant) -> Bool {
    line.turn(isFull: isFull, hasMark: hasMark, at: now)
  }

  @Test func `the wait is what lies between setting the mark and its return, and grows while it is out`() {
    var line = ReadyLine()
    #expect(line.lag(at: Self.at(5)) == .zero)
    #expect(Self.turn(&line, isFull: true, hasMark: false, at: Self.at(10)))
    #expect(line.lag(at: Self.at(10)) == .zero)
    #expect(!Self.turn(&line, isFull: true, hasMark: false, at: Self.at(30)))
    #expect(line.lag(at: Self.at(30)) == .milliseconds(20))
    // It comes back: the line was 50 ms long, and a new mark measures it again.
    #expect(Self.turn(&line, isFull: true, hasMark: true, at: Self.at(60)))
    #expect(line.lag(at: Self.at(60)) == .milliseconds(50))
    #expect(Self.turn(&line, isFull: true, hasMark: true, at: Self.at(70)))
    #expect(line.lag(at: Self.at(70)) == .milliseconds(10))
    // Nothing but the mark is left.
    #expect(!Self.turn(&line, isFull: false, hasMark: true, at: Self.at(75)))
    #expect(line.lag(at: Self.at(80)) == .zero)
  }

  private final class Notes {
    var lags: [Duration] = []
    var left: Int
    let done: CheckedContinuation<[Duration], Never>
    init(_ left: Int, _ done: CheckedContinuation<[Duration], Never>) {
      self.left = left
      self.done = done
    }
  }

  private final class Standing: ReadinessHandler {
    let pipe = Pipe()
    let loop: EpollLoop
    let notes: Notes
    var token: WatchToken?

    init(on loop: EpollLoop, _ notes: Notes) {
      self.loop = loop
      self.notes = notes
      // Readable from now on: its end has come.
      try? pipe.fileHandleForWriting.close()
      token = loop.watch(pipe.fileHandleForReading.fileDescriptor, for: .readable, handler: self)
    }

    func ready(_ readiness: Readiness) {
      guard let token else { return }
      loop.unwatch(token, pipe.fileHandleForReading.fileDescriptor)
      self.token = nil
      notes.lags.append(loop.lag)
      notes.left -= 1
      if notes.left == 0 { notes.done.resume(returning: notes.lags) }
    }
  }

  @Test func `a loop with more ready descriptors than a turn takes knows how long the last have waited`() async throws {
    var limits = LoopLimits()
    limits.eventsPerTurn = 2
    try await withLoop(limits: limits) { loop in
      let lags = await withCheckedContinuation { done in
        loop.execute {
          let notes = Notes(9, done)
          for _ in 0..<9 { _ = Standing(on: loop, notes) }
        }
      }
      #expect(lags.count == 9)
      #expect(lags.first == .zero)
      let last = try #require(lags.last)
      #expect(last > .zero)
      #expect(await on(loop) { loop.watchCount } == 0)
    }
  }
}
