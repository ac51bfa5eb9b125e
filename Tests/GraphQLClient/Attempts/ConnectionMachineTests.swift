import MartletGraphQLClient
import MartletVocabulary
import Testing

/// The connection's lifecycle by transcripts: events in, actions out, without a loop.
@Suite struct ConnectionMachineTests {
  /// A machine with its clock and chance, and the generation of the attempt that is under way.
  private struct Stage {
    var machine: ConnectionMachine
    var now = Instant.zero
    var random = SeededRandom(seed: 7)

    init(_ purpose: ConnectionMachine.Purpose = .connection, attempts: Int? = nil) {
      var policy = ReconnectPolicy()
      policy.jitter = 0
      policy.attempts = attempts
      machine = ConnectionMachine(purpose, policy)
    }

    mutating func open() {
      #expect(machine.answered(machine.generation) == .open)
      #expect(machine.opened(machine.generation) == .use)
      machine.acknowledged(at: now)
    }

    mutating func closed(
      _ failure: RetryMachine.Failure = .passing(), generation: Int? = nil, isNeeded: Bool = true
    ) -> ConnectionMachine.CloseAction {
      machine.closed(
        failure, generation ?? machine.generation, isNeeded: isNeeded, at: now, using: &random)
    }

    /// Opens, closes at once, and waits for the pause's end; the pause in milliseconds.
    mutating func pauseAfterClosing(_ failure: RetryMachine.Failure = .passing()) -> Int64? {
      open()
      return pause(after: failure)
    }

    mutating func pause(after failure: RetryMachine.Failure = .passing()) -> Int64? {
      guard case .wait(let until) = closed(failure) else { return nil }
      let pause = (until - now).wholeNanoseconds / 1_000_000
      now = until
      guard case .ask = machine.reachedDeadline(machine.generation) else { return nil }
      return pause
    }
  }

  @Test func `a connection goes from need to open, and a second need finds it`() {
    var stage = Stage()
    #expect(stage.machine.need() == .ask(.connecting(attempt: 1)))
    #expect(stage.machine.phase == .asking)
    #expect(stage.machine.need() == .wait)
    #expect(stage.machine.answered(stage.machine.generation) == .open)
    #expect(stage.machine.phase == .opening)
    #expect(stage.machine.need() == .wait)
    #expect(stage.machine.opened(stage.machine.generation) == .use)
    #expect(stage.machine.need() == .proceed)
    #expect(stage.machine.release() == .drop)
    #expect(stage.machine.phase == .idle)
    #expect(stage.machine.release() == .none)
  }

  @Test func `attempts are numbered for connections and streams, and a request stays a request`() {
    for (purpose, first, second) in [
      (ConnectionMachine.Purpose.connection, CredentialReason.connecting(attempt: 1), .connecting(attempt: 2)),
      (.stream, CredentialReason.request, .connecting(attempt: 2)),
      (.request, .request, CredentialReason.request),
    ] {
      var stage = Stage(purpose)
      #expect(stage.machine.need() == .ask(first))
      _ = stage.machine.answered(stage.machine.generation)
      #expect(stage.closed() == .wait(until: .zero + .milliseconds(500)))
      #expect(stage.machine.reachedDeadline(stage.machine.generation) == .ask(second))
    }
  }

  @Test func `what an older attempt reports changes nothing`() {
    var stage = Stage()
    _ = stage.machine.need()
    let old = stage.machine.generation
    #expect(stage.closed() == .wait(until: .zero + .milliseconds(500)))
    #expect(stage.machine.answered(old) == .ignore)
    #expect(stage.machine.opened(old) == .ignore)
    #expect(stage.closed(generation: old) == .ignore)
    #expect(stage.machine.reachedDeadline(old) == .none)
    #expect(stage.machine.phase == .waiting)
  }

  @Test func `pauses grow while connections open and close at once, and an event ends the row`() {
    var stage = Stage()
    _ = stage.machine.need()
    #expect((1...3).map { _ in stage.pauseAfterClosing() } == [500, 1_000, 2_000])
    stage.open()
    stage.machine.credentialsAccepted()
    #expect(stage.pause() == 4_000)
    stage.open()
    stage.machine.progressed()
    #expect(stage.pause() == 500)
    stage.open()
    stage.now = stage.now + .seconds(5)
    #expect(stage.pause() == 500)
  }

  @Test func `a connection that nothing needs rests at its end`() {
    var stage = Stage()
    _ = stage.machine.need()
    #expect(stage.closed(isNeeded: false) == .rest)
    #expect(stage.machine.phase == .idle)
    #expect(stage.machine.need() == .ask(.connecting(attempt: 1)))
  }

  @Test func `refused credentials are asked for once more, and a second refusal is final`() {
    var stage = Stage()
    _ = stage.machine.need()
    stage.open()
    #expect(stage.closed(.credentialsRefused(code: 4403)) == .ask(.refused(code: 4403)))
    stage.open()
    #expect(stage.closed(.credentialsRefused(code: 4403)) == .fail(.credentialsRefused))
    #expect(stage.machine.phase == .idle)
    // Accepted in between, the next refusal is a new one.
    _ = stage.machine.need()
    stage.open()
    #expect(stage.closed(.credentialsRefused(code: 401)) == .ask(.refused(code: 401)))
    stage.open()
    stage.machine.credentialsAccepted()
    #expect(stage.closed(.credentialsRefused(code: 401)) == .ask(.refused(code: 401)))
  }

  @Test func `a final failure ends the attempts at once, and the number of attempts ends them later`() {
    var stage = Stage(attempts: 2)
    _ = stage.machine.need()
    _ = stage.machine.answered(stage.machine.generation)
    #expect(stage.closed(.final) == .fail(.finalFailure))
    _ = stage.machine.need()
    #expect([stage.pause(), stage.pause()] == [500, 1_000])
    #expect(stage.closed() == .fail(.attemptsUsedUp))
    #expect(stage.machine.failures == 0)
  }

  @Test func `the server's pause replaces a shorter one, up to the policy's bound`() {
    var stage = Stage()
    _ = stage.machine.need()
    #expect(stage.pauseAfterClosing(.passing(retryAfter: .seconds(7))) == 7_000)
    #expect(stage.pauseAfterClosing(.passing(retryAfter: .milliseconds(1))) == 1_000)
    #expect(stage.pauseAfterClosing(.passing(retryAfter: .seconds(86_400))) == 600_000)
    stage.open()
    stage.machine.serverPauses(for: .seconds(20))
    #expect(stage.pause() == 20_000)
    #expect(stage.pauseAfterClosing() == 20_000)
  }

  @Test func `a pause drops the connection and keeps it from being made until resume`() {
    for isOpen in [false, true] {
      var stage = Stage()
      _ = stage.machine.need()
      if isOpen { stage.open() }
      let old = stage.machine.generation
      #expect(stage.machine.pause() == .drop)
      #expect(stage.machine.pause() == .none)
      #expect(stage.machine.need() == .wait)
      #expect(stage.closed(generation: old) == .ignore)
      #expect(stage.machine.resume(isNeeded: true) == .ask(.connecting(attempt: 1)))
      #expect(stage.machine.resume(isNeeded: true) == .none)
    }
    var idle = Stage()
    #expect(idle.machine.pause() == .drop)
    #expect(idle.machine.resume(isNeeded: false) == .rest)
    #expect(idle.machine.phase == .idle)
  }

  @Test func `a connection is replaced only while there is one`() {
    var stage = Stage()
    #expect(stage.machine.replace() == .none)
    _ = stage.machine.need()
    #expect(stage.machine.replace() == .none)
    stage.open()
    #expect(stage.machine.replace() == .dropAndAsk(.connecting(attempt: 1)))
    stage.open()
    #expect(stage.machine.replace(refused: 4403) == .dropAndAsk(.refused(code: 4403)))
  }

  @Test func `nothing follows a shutdown`() {
    var stage = Stage()
    _ = stage.machine.need()
    stage.open()
    let old = stage.machine.generation
    #expect(stage.machine.shutDown() == .drop)
    #expect(stage.machine.shutDown() == .none)
    #expect(stage.machine.need() == .refuse)
    #expect(stage.closed(generation: old) == .ignore)
    #expect(stage.machine.pause() == .none)
    #expect(stage.machine.resume(isNeeded: true) == .none)
    #expect(stage.machine.replace() == .none)
    #expect(stage.machine.release() == .none)
  }

  @Test func `random events never leave two attempts under way or an attempt without an owner`() {
    for seed in 1...200 {
      var random = SeededRandom(seed: UInt64(seed))
      var stage = Stage(attempts: seed.isMultiple(of: 2) ? 3 : nil)
      // The naive model: what the driver holds. One of a question, an attempt, a connection or a timer, or nothing.
      var held = 0
      var isShutDown = false
      for _ in 0..<60 {
        let generation = random.next() % 4 == 0 ? stage.machine.generation - 1 : stage.machine.generation
        let isCurrent = generation == stage.machine.generation
        switch random.next() % 10 {
        case 0: if case .ask = stage.machine.need() { held += 1 }
        case 1: if stage.machine.answered(generation) == .open { #expect(isCurrent && held == 1) }
        case 2: if stage.machine.opened(generation) == .use { #expect(isCurrent && held == 1) }
        case 3:
          let kinds: [RetryMachine.Failure] = [.passing(), .final, .credentialsRefused(code: 401)]
          switch stage.closed(
            kinds[Int(random.next() % 3)], generation: generation, isNeeded: random.next() % 3 > 0)
          {
          case .ask, .wait: #expect(held == 1)
          case .rest, .fail: held -= 1
          case .ignore: break
          }
        case 4: if stage.machine.pause() == .drop { held = 0 }
        case 5: if case .ask = stage.machine.resume(isNeeded: random.next() % 2 == 0) { held += 1 }
        case 6: if stage.machine.release() == .drop { held = 0 }
        case 7: if case .dropAndAsk = stage.machine.replace() { #expect(held == 1) }
        case 8: if case .ask = stage.machine.hasten() { #expect(held == 1) }
        default: if case .ask = stage.machine.reachedDeadline(generation) { #expect(held == 1) }
        }
        if random.next() % 80 == 0, stage.machine.shutDown() == .drop { (held, isShutDown) = (0, true) }
        stage.now = stage.now + .milliseconds(Int64(random.next() % 3_000))
        let expected =
          switch stage.machine.phase {
          case .idle, .paused, .shutDown: 0
          case .asking, .opening, .open, .waiting: 1
          }
        #expect(held == expected, "seed \(seed)")
        #expect(isShutDown == (stage.machine.phase == .shutDown))
      }
    }
  }
}
