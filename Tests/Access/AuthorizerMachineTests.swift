import MartletAccess
import MartletJSON
import MartletVocabulary
import Testing

/// Decisions about requests to a custom authorizer, as transcripts.
@Suite struct AuthorizerMachineTests {
  private typealias Machine = AuthorizerMachine<Int>

  private static let calendar = Duration.seconds(1_700_000_000)

  private static func at(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }

  private static func text(_ actions: [Machine.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .ask(let number, let credential): "ask \(number) \(credential)"
      case .abandon(let number): "abandon \(number)"
      case .report(let failure): "report \(failure.code)"
      case .answer(let waiter, .accepted(let identity)): "\(waiter) accepted \(identity.subject ?? "-")"
      case .answer(let waiter, .refused): "\(waiter) refused"
      case .answer(let waiter, .failed(let failure)): "\(waiter) \(failure.code)"
      }
    }
  }

  private static func judge(
    _ machine: inout Machine, _ credential: String, _ waiter: Int, _ seconds: Double = 0,
    calendar: Duration = calendar
  ) -> [String] {
    text(machine.judge(credential, Array(credential.utf8), for: waiter, at: at(seconds), calendar: calendar))
  }

  private static func answer(
    _ machine: inout Machine, _ number: Int, _ body: String, status: Int = 200, calendar: Duration = calendar
  ) -> [String] {
    text(machine.received(number, status: status, body: Array(body.utf8), calendar: calendar))
  }

  @Test func `equal credentials are asked about once, and not again while the answer may be used`() {
    var machine = Machine()
    #expect(Self.judge(&machine, "a", 1) == ["ask 1 a"])
    #expect(Self.judge(&machine, "a", 2) == [])
    #expect(Self.judge(&machine, "b", 3) == ["ask 2 b"])
    let ada = #"{"isAuthorized":true,"subject":"ada","ttlOverride":60}"#
    #expect(Self.answer(&machine, 1, ada) == ["1 accepted ada", "2 accepted ada"])
    #expect(Self.answer(&machine, 1, ada) == [], "an answer counts once")
    #expect(Self.judge(&machine, "a", 4, calendar: Self.calendar + .seconds(59)) == ["4 accepted ada"])
    #expect(Self.judge(&machine, "a", 5, calendar: Self.calendar + .seconds(60)) == ["ask 3 a"])
    // A clock that was set back makes no answer younger than it is.
    #expect(machine.remembered(Array("a".utf8), at: Self.calendar - .seconds(1)) == nil)
  }

  @Test func `an answer is kept until its own end, its ttlOverride or the default, whichever is first`() {
    let now = Self.calendar.components.seconds
    let cases: [(String, Int64)] = [
      (#"{"isAuthorized":true}"#, 300), (#"{"isAuthorized":true,"ttlOverride":10}"#, 10),
      (#"{"isAuthorized":true,"ttlOverride":10,"expires":\#(now + 5)}"#, 5),
      (#"{"isAuthorized":true,"expires":\#(now + 5)}"#, 5), (#"{"isAuthorized":true,"ttlOverride":0}"#, 0),
      (#"{"isAuthorized":true,"ttlOverride":999999999}"#, 86_400),
    ]
    for (body, seconds) in cases {
      var machine = Machine()
      _ = Self.judge(&machine, "a", 1)
      #expect(Self.answer(&machine, 1, body) == ["1 accepted -"], "\(body)")
      let before = machine.remembered([0x61], at: Self.calendar + .seconds(max(0, seconds - 1)))
      #expect((before != nil) == (seconds > 0), "\(body)")
      #expect(machine.remembered([0x61], at: Self.calendar + .seconds(seconds)) == nil, "\(body)")
    }
    var machine = Machine()
    _ = Self.judge(&machine, "a", 1)
    #expect(Self.answer(&machine, 1, #"{"isAuthorized":true,"expires":\#(now)}"#) == ["1 refused"])
  }

  @Test func `refusals are not kept, and failures refuse and are reported`() {
    let cases: [(Int, String, [String])] = [
      (200, #"{"isAuthorized":false}"#, ["1 refused"]), (401, "", ["1 refused"]), (403, "<html>", ["1 refused"]),
      (302, "", ["report authorizer-status", "1 authorizer-status"]),
      (500, "", ["report authorizer-status", "1 authorizer-status"]),
      (204, "", ["report authorizer-status", "1 authorizer-status"]),
      (200, "yes", ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, "[]", ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, "{}", ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":"true"}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":1}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":false,"isAuthorized":true}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":true,"subject":7}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":true,"groups":"staff"}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":true,"groups":[null]}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":true,"claims":[]}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (
        200, #"{"isAuthorized":true,"expires":1893456000000}"#,
        ["report authorizer-malformed", "1 authorizer-malformed"]
      ),
      (200, #"{"isAuthorized":true,"ttlOverride":-1}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, #"{"isAuthorized":true,"deniedFields":["a"]}"#, ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, String(repeating: "[", count: 1_000), ["report authorizer-malformed", "1 authorizer-malformed"]),
      (200, String(repeating: " ", count: 70_000), ["report authorizer-too-large", "1 authorizer-too-large"]),
    ]
    for (status, body, expected) in cases {
      var machine = Machine()
      _ = Self.judge(&machine, "a", 1)
      #expect(Self.answer(&machine, 1, body, status: status) == expected, "\(status) \(body.prefix(60))")
      #expect(Self.judge(&machine, "a", 2) == ["ask 2 a"], "\(body.prefix(60))")
    }
  }

  @Test func `an answer carries subject, groups and claims, and its provider is function`() throws {
    let body = #"{"isAuthorized":true,"subject":"ada","groups":["x","y"],"resolverContext":{"a":1},"claims":{"b":"c"}}"#
    let answer = try AuthorizerAnswer(status: 200, body: Array(body.utf8), limits: AuthorizerLimits())
    let identity = Identity(provider: .function, subject: "ada", groups: ["x", "y"], claims: ["a": 1, "b": "c"])
    #expect(answer == .accepted(identity, cacheTime: nil))
  }

  @Test func `requests are bounded, others wait in their order, and all end at their deadline`() {
    var limits = AuthorizerLimits()
    limits.requests = 2
    limits.queuedCredentials = 2
    limits.waiters = 5
    var machine = Machine(limits: limits)
    #expect(Self.judge(&machine, "a", 1, 0) == ["ask 1 a"])
    #expect(Self.judge(&machine, "b", 2, 1) == ["ask 2 b"])
    #expect(Self.judge(&machine, "c", 3, 2) == [])
    #expect(Self.judge(&machine, "d", 4, 3) == [])
    #expect(Self.judge(&machine, "e", 5, 3) == ["5 authorizer-overloaded"], "the queue is full")
    #expect(Self.judge(&machine, "a", 6, 3) == [])
    #expect(Self.judge(&machine, "a", 7, 3) == ["7 authorizer-overloaded"], "five wait")
    #expect(Self.answer(&machine, 2, "", status: 401) == ["2 refused", "ask 3 c"])
    #expect(machine.deadline == Self.at(5))
    #expect(Self.text(machine.reached(Self.at(4.9))) == [])
    let late = Self.text(machine.reached(Self.at(5)))
    #expect(
      late == ["report authorizer-timeout", "abandon 1", "1 authorizer-timeout", "6 authorizer-timeout", "ask 4 d"])
    #expect(Self.answer(&machine, 1, #"{"isAuthorized":true}"#) == [], "what was given up is ignored")
    #expect(
      Self.text(machine.failed(4, .unreachable("x"))) == ["report authorizer-unreachable", "4 authorizer-unreachable"])
    #expect(Self.text(machine.stop()) == ["abandon 3", "3 authorizer-stopped"])
    #expect(machine.deadline == nil && machine.requestCount == 0)
  }

  @Test func `the cache is bounded and keeps what is used`() {
    var cache = AuthorizerCache(capacity: 10)
    for number in 0..<1_000 {
      cache.insert(Identity(provider: .function), for: [0], from: .zero, to: .seconds(10))
      cache.insert(
        Identity(provider: .function), for: Array("\(number)".utf8), from: .zero, to: .seconds(10))
      #expect(cache.count <= 10)
      #expect(cache.find([0], at: .seconds(1)) != nil)
    }
    #expect(cache.find(Array("3".utf8), at: .seconds(1)) == nil)
    #expect(cache.find(Array("999".utf8), at: .seconds(1)) != nil)
    #expect(cache.find(Array("999".utf8), at: .seconds(10)) == nil)
  }

  @Test func `random credentials, answers and times settle each caller exactly once`() {
    for seed in 0..<40 as Range<UInt64> {
      var chance = SeededRandom(seed: seed)
      var limits = AuthorizerLimits()
      limits.requests = 3
      limits.queuedCredentials = 4
      limits.waiters = 12
      var machine = Machine(limits: limits)
      var (settled, asked, last, seconds): ([Int: Int], [Int], Int, Double) = ([:], [], 0, 0)
      func take(_ actions: [Machine.Action]) {
        for action in actions {
          switch action {
          case .ask(let number, _): asked.append(number)
          case .abandon(let number): asked.removeAll { $0 == number }
          case .answer(let waiter, _): settled[waiter, default: 0] += 1
          case .report: break
          }
        }
        #expect(machine.requestCount <= 3 && machine.requestCount == asked.count)
      }
      for _ in 0..<300 {
        seconds += Double(chance.next() % 10) / 10
        switch chance.next() % 4 {
        case 0, 1:
          last += 1
          let name = "\(chance.next() % 8)"
          take(machine.judge(name, Array(name.utf8), for: last, at: Self.at(seconds), calendar: .seconds(seconds)))
        case 2 where !asked.isEmpty:
          let number = asked.remove(at: Int(chance.next() % UInt64(asked.count)))
          let body = #"{"isAuthorized":\#(chance.next() % 2 == 0),"ttlOverride":1}"#
          take(machine.received(number, status: 200, body: Array(body.utf8), calendar: .seconds(seconds)))
        default: take(machine.reached(Self.at(seconds)))
        }
      }
      take(machine.stop())
      #expect(settled.count == last && settled.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    }
  }
}
