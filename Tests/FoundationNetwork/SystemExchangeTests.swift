import MartletFoundationNetwork
import MartletRuntime
import Testing

/// Exchanges over the system's client, with scripted tasks in virtual time.
@Suite struct SystemExchangeTests {
  private let stage = Stage()
  private let recorder = Recorder()

  private func start(
    _ limits: ExchangeLimits = ExchangeLimits(), _ configure: (inout HTTPExchangeRequest) -> Void = { _ in }
  )
    -> ScriptedTasks.Exchange?
  {
    var request = HTTPExchangeRequest("POST", url: "http://server.test/")
    request.body = [1]
    configure(&request)
    let (sent, stage, recorder) = (request, stage, recorder)
    stage.step {
      recorder.exchange = SystemExchanges(stage.tasks, limits: limits).start(sent, on: stage.loop, handler: recorder)
    }
    return stage.tasks.exchanges.last
  }

  /// Runs steps of a task on the loop.
  private func step(_ task: ScriptedTasks.Exchange?, _ body: @escaping (ScriptedTasks.Exchange) -> Void) {
    guard let task else { return }
    let bound = LoopBound((task, body), on: stage.loop)
    stage.step { bound.value.1(bound.value.0) }
  }

  @Test func `a response is reported in its order, once`() {
    let task = start()
    step(task) {
      $0.events.sentBody()
      $0.head()
      $0.body("a")
      $0.body("")
      $0.body("b")
      $0.end()
      $0.end()
    }
    #expect(recorder.events == ["sent", "head 200", "body a", "body b", "end"])
    #expect(task?.calls == ["resume"] && task?.isStream == false)
  }

  @Test func `streams are the exchanges without a bound of their body`() {
    #expect(start { $0.bodyBytes = nil }?.isStream == true)
  }

  @Test
  func `a pinned address, a header that would break the framing and a bad URL are refused before anything is sent`() {
    let cases: [(inout HTTPExchangeRequest) -> Void] = [
      { $0.pinnedAddress = "127.0.0.1" }, { $0.headers = [("a", "b\r\nc: d")] }, { $0.headers = [("a b", "c")] },
      { $0.url = "" }, { $0.method = "GET / HTTP/1.1\r\n" },
    ]
    for configure in cases { #expect(start(ExchangeLimits(), configure) == nil) }
    #expect(recorder.events == Array(repeating: "end invalidRequest", count: cases.count))
  }

  @Test func `the times for a connection, for silence and for all of it are kept by the loop`() {
    start { $0.connectTime = .seconds(3) }.map { _ in stage.pass(.seconds(2)) }
    #expect(recorder.events.isEmpty)
    stage.pass(.seconds(2))
    #expect(recorder.events == ["end timeout"])

    let silent = start {
      $0.idleTime = .seconds(5)
      $0.totalTime = nil
    }
    step(silent) { $0.head() }
    for _ in 0..<3 {
      stage.pass(.seconds(4))
      step(silent) { $0.body("x") }
    }
    stage.pass(.seconds(6))
    #expect(recorder.events.suffix(5) == ["head 200", "body x", "body x", "body x", "end timeout"])

    let long = start {
      $0.totalTime = .seconds(10)
      $0.idleTime = nil
    }
    step(long) { $0.head() }
    stage.pass(.seconds(11))
    #expect(recorder.events.suffix(2) == ["head 200", "end timeout"])
    #expect(long?.calls == ["resume", "cancel"])
  }

  @Test func `a body longer than the bound fails, and nothing is reported after it`() {
    let task = start { $0.bodyBytes = 3 }
    step(task) {
      $0.head()
      $0.body("ab")
      $0.body("cd")
      $0.body("e")
      $0.end()
    }
    #expect(recorder.events == ["head 200", "body ab", "end bodyTooLarge"])
    #expect(task?.calls.last == "cancel")
  }

  @Test func `what comes while reading is paused is held, in order, up to a bound`() {
    var limits = ExchangeLimits()
    limits.pausedBytes = 4
    let (stage, recorder) = (stage, recorder)
    let task = start(limits) { $0.idleTime = .seconds(5) }
    step(task) { task in
      task.head()
      recorder.exchange?.isPaused = true
      task.body("ab")
      task.body("cd")
    }
    // Silence while paused is not the server's.
    stage.pass(.seconds(20))
    #expect(recorder.events == ["head 200"])
    stage.step { recorder.exchange?.isPaused = false }
    #expect(recorder.events == ["head 200", "body ab", "body cd"])
    step(task) { task in
      task.body("e")
      recorder.exchange?.isPaused = true
      task.body("f")
      task.end()
    }
    #expect(recorder.events.suffix(1) == ["body e"])
    stage.step { recorder.exchange?.isPaused = false }
    #expect(recorder.events.suffix(2) == ["body f", "end"])
    #expect(task?.calls == ["resume", "suspend", "resume", "suspend"])
  }

  @Test func `more than the bound while paused ends the task, and the exchange once what is held was delivered`() {
    var limits = ExchangeLimits()
    limits.pausedBytes = 4
    let (stage, recorder) = (stage, recorder)
    let task = start(limits) { $0.idleTime = .seconds(5) }
    step(task) { task in
      task.head()
      recorder.exchange?.isPaused = true
      task.body("abc")
      task.body("de")
      // What a cancelled task still reports.
      task.body("f")
      task.end(HTTPExchangeError(.other, "cancelled"))
    }
    stage.pass(.seconds(100))
    #expect(recorder.events == ["head 200"] && task?.calls.last == "cancel")
    stage.step { recorder.exchange?.isPaused = false }
    #expect(recorder.events == ["head 200", "body abc", "body de", "end overflow"])
    stage.pass(.seconds(100))
    #expect(recorder.events.count == 4 && task?.calls.count { $0 == "cancel" } == 1)
  }

  @Test func `a cancelled exchange reports nothing more, and cancels its task`() {
    let (stage, recorder) = (stage, recorder)
    let task = start()
    stage.step { recorder.exchange?.cancel() }
    step(task) {
      $0.head()
      $0.body("a")
      $0.end()
    }
    stage.pass(.seconds(100))
    #expect(recorder.events.isEmpty && task?.calls == ["resume", "cancel"])
  }
}
