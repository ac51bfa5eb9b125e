import MartletTokens
import MartletVocabulary
import Testing

@Suite struct KeySetMachineTests {
  /// A machine with its clock, and what it does as text.
  struct Harness {
    var machine: KeySetMachine<Int>
    var now = Instant.zero
    var chance = SeededRandom(seed: 1)
    var limits = KeySetLimits()

    init(_ source: KeySetMachine<Int>.Source? = nil) throws {
      let address = try KeySetAddress("https://keys.example/jwks")
      machine = KeySetMachine(source ?? .keySet(address), algorithms: [.rs256], limits: limits)
    }

    static func text(_ actions: [KeySetMachine<Int>.Action]) -> [String] {
      actions.map { action in
        switch action {
        case .fetch(let number, let address, let bytes): "fetch \(number) \(address) \(bytes)"
        case .abandon(let number): "abandon \(number)"
        case .install(let set): "install \(set.keys.map { $0.id ?? "-" }.joined(separator: " "))"
        case .withdraw: "withdraw"
        case .retry(let waiter): "retry \(waiter)"
        case .refuse(let waiter): "refuse \(waiter)"
        case .unavailable(let waiter): "unavailable \(waiter)"
        case .report(let failure): "report \(failure.description)"
        }
      }
    }

    mutating func start() -> [String] { Self.text(machine.start(now: now)) }
    mutating func refresh() -> [String] { Self.text(machine.refresh(now: now)) }
    mutating func misses(_ waiter: Int) -> [String] { Self.text(machine.missesKey(waiter, now: now)) }
    mutating func receives(_ number: Int, _ body: String, status: Int = 200, cache: String? = nil, age: String? = nil)
      -> [String]
    {
      let answer = KeySetAnswer(status: status, cacheControl: cache, age: age, body: Array(body.utf8))
      return Self.text(machine.received(number, answer, now: now, chance: &chance))
    }
    mutating func fails(_ number: Int) -> [String] {
      Self.text(machine.failed(number, .unreachable("refused"), now: now, chance: &chance))
    }
    /// Moves the clock, and then notifies the machine.
    mutating func after(_ duration: Duration) -> [String] {
      now = now + duration
      return Self.text(machine.reached(now, chance: &chance))
    }
    /// The time to the machine's deadline in seconds.
    var seconds: Double? {
      machine.deadline.map { Double(($0 - now).wholeNanoseconds) / 1e9 }
    }
  }

  static func keys(_ names: String...) -> String {
    let list = names.map { MadeTokens.secondKey.replacing("\"kid\":\"RS256\"", with: "\"kid\":\"\($0)\"") }
    return #"{"keys":[\#(list.joined(separator: ","))]}"#
  }

  @Test func `keys are fetched at the start and again when their age is over`() throws {
    var harness = try Harness()
    #expect(harness.start() == ["fetch 1 https://keys.example/jwks 524288"])
    #expect(harness.start() == [])
    #expect(harness.receives(1, Self.keys("a"), cache: "public, max-age=600") == ["install a"])
    #expect(harness.seconds == 600)
    #expect(harness.after(.seconds(599)) == [])
    #expect(harness.after(.seconds(1)) == ["fetch 2 https://keys.example/jwks 524288"])
    #expect(harness.receives(2, Self.keys("b")) == ["install b"])
    #expect(harness.seconds == 900)
  }

  @Test(arguments: [
    ("max-age=0", nil, 60.0), ("no-store, max-age=600", nil, 60), ("no-cache", nil, 60),
    ("max-age=31536000", nil, 86_400), ("max-age=99999999999999999999", nil, 86_400), ("max-age=600", "200", 400),
    ("max-age=600", "700", 60), ("max-age=600", "-5", 600), ("max-age=600", "x", 600), ("MAX-AGE = \"600\"", nil, 600),
    ("max-age=-1", nil, 900), ("max-age=", nil, 900), ("max-age", nil, 900), ("public", nil, 900),
    ("s-maxage=1", nil, 900),
  ])
  func `the age that an answer states is used within bounds`(cache: String, age: String?, seconds: Double) throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.receives(1, Self.keys("a"), cache: cache, age: age)
    #expect(harness.seconds == seconds)
  }

  @Test func `an operator's wish is followed at once, and by a new look where one is under way`() throws {
    var harness = try Harness()
    _ = harness.start()
    #expect(harness.misses(1) == [])
    #expect(harness.refresh() == ["abandon 1", "fetch 2 https://keys.example/jwks 524288"])
    #expect(harness.receives(1, Self.keys("z")) == [], "what was published before the wish does not count")
    #expect(harness.receives(2, Self.keys("a")) == ["install a", "retry 1"])
    #expect(harness.refresh() == ["fetch 3 https://keys.example/jwks 524288"])
    #expect(harness.fails(3).first?.hasPrefix("report ") == true)
    #expect(harness.refresh() == ["fetch 4 https://keys.example/jwks 524288"], "no pause holds for an operator")
    #expect(harness.receives(4, Self.keys("b")) == ["install b"])
    let issuer = "https://issuer.example"
    harness = try Harness(.discovery(issuer: issuer, try .discovery(of: issuer)))
    _ = harness.start()
    let document = #"{"issuer":"\#(issuer)","jwks_uri":"https://keys.example/jwks"}"#
    #expect(harness.receives(1, document) == ["fetch 2 https://keys.example/jwks 524288"])
    _ = harness.receives(2, Self.keys("a"))
    #expect(harness.refresh() == ["fetch 3 \(issuer)/.well-known/openid-configuration 65536"])
  }

  @Test func `a rotated key is fetched when the first token with it comes, and tokens wait for that`() throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.receives(1, Self.keys("a"))
    _ = harness.after(.seconds(100))
    #expect(harness.misses(1) == ["fetch 2 https://keys.example/jwks 524288"])
    #expect(harness.misses(2) == [])
    #expect(harness.receives(2, Self.keys("a", "b")) == ["install a b", "retry 1", "retry 2"])
  }

  @Test func `tokens with unknown keys cause one fetch for each pause, however many there are`() throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.receives(1, Self.keys("a"))
    var fetches = 0
    for second in 0..<300 {
      harness.now = Instant.zero + .seconds(second)
      for waiter in 0..<10 {
        let actions = harness.misses(waiter)
        guard actions != ["refuse \(waiter)"] else { continue }
        #expect(actions == ["fetch \(fetches + 2) https://keys.example/jwks 524288"])
        fetches += 1
        #expect(harness.receives(fetches + 1, Self.keys("a")) == ["install a", "retry \(waiter)"])
      }
    }
    #expect(fetches == 10)
  }

  @Test func `a failing source is asked with growing pauses, and old keys stay good for the outage's time`() throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.receives(1, Self.keys("a"))
    var attempts = 0
    var pauses: [Double] = []
    var withdrawn: Instant?
    _ = harness.after(.seconds(900))
    while withdrawn == nil {
      let last = attempts + 2
      _ = harness.fails(last)
      attempts += 1
      pauses.append(harness.seconds ?? 0)
      #expect(harness.misses(7) == ["refuse 7"])
      var actions: [String] = []
      while !actions.contains(where: { $0.hasPrefix("fetch") }), withdrawn == nil {
        let wait = try #require(harness.machine.deadline) - harness.now
        actions = harness.after(wait)
        if actions.contains("withdraw") { withdrawn = harness.now }
      }
    }
    #expect(withdrawn == Instant.zero + .seconds(900 + 86_400))
    for (position, pause) in pauses.prefix(8).enumerated() {
      let full = Double(min(300, 1 << position))
      #expect(pause >= full / 2 && pause <= full, "\(position): \(pause)")
    }
    #expect(attempts < 700)
    #expect(!harness.machine.hasKeys)
  }

  @Test func `after an outage keys are in force again, and meanwhile tokens are refused as unavailable`() throws {
    var harness = try Harness()
    #expect(harness.start() == ["fetch 1 https://keys.example/jwks 524288"])
    #expect(harness.misses(1) == [])
    #expect(harness.fails(1) == ["report it cannot be reached: refused", "unavailable 1"])
    #expect(harness.misses(2) == ["unavailable 2"])
    #expect(harness.after(.seconds(1)) == ["fetch 2 https://keys.example/jwks 524288"])
    #expect(harness.misses(3) == [])
    #expect(harness.receives(2, Self.keys("a")) == ["install a", "retry 3"])
    #expect(harness.machine.hasKeys)
  }

  @Test func `an answer that does not come in time is given up, and its late arrival means nothing`() throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.misses(1)
    #expect(harness.seconds == 10)
    #expect(harness.after(.seconds(10)) == ["abandon 1", "report it did not answer in time", "unavailable 1"])
    #expect(harness.receives(1, Self.keys("evil")) == [])
    #expect(harness.fails(1) == [])
    #expect(harness.after(.seconds(1)) == ["fetch 2 https://keys.example/jwks 524288"])
  }

  @Test(arguments: [
    ("<html>", 200), ("", 200), ("{}", 200), (#"{"keys":[]}"#, 200), (#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, 200),
    (#"{"keys":[{"kty":"oct","kid":"a","alg":"HS256","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr8"}]}"#, 200),
    (Self.keys("evil"), 404), (Self.keys("evil"), 301), (Self.keys("evil"), 500), (Self.keys("evil"), 206),
    (Self.keys("evil") + String(repeating: " ", count: 524_288), 200),
    (String(repeating: "[", count: 10_000), 200),
  ])
  func `garbage is refused and the last good keys stay`(body: String, status: Int) throws {
    var harness = try Harness()
    _ = harness.start()
    _ = harness.receives(1, Self.keys("a"))
    _ = harness.after(.seconds(900))
    let actions = harness.receives(2, body, status: status)
    #expect(actions.count == 1 && actions[0].hasPrefix("report "), "\(actions)")
    #expect(harness.machine.hasKeys)
    #expect(harness.seconds ?? 0 <= 1)
  }

  @Test func `more waiting tokens than the limit are refused, and forgotten ones leave`() throws {
    var harness = try Harness()
    _ = harness.start()
    for waiter in 0..<1_024 { #expect(harness.misses(waiter) == []) }
    #expect(harness.misses(1_024) == ["unavailable 1024"])
    harness.machine.forget { $0 >= 2 }
    #expect(harness.receives(1, Self.keys("a")) == ["install a", "retry 0", "retry 1"])
  }

  static let issuer = "https://login.example"

  static func discovery() throws -> Harness {
    try Harness(.discovery(issuer: issuer, KeySetAddress.discovery(of: issuer)))
  }

  @Test func `a discovery document leads to the key set, and is asked again when the set fails`() throws {
    var harness = try Self.discovery()
    let first = "https://login.example/.well-known/openid-configuration 65536"
    #expect(harness.start() == ["fetch 1 \(first)"])
    let document = #"{"issuer":"https://login.example","jwks_uri":"https://keys.login.example/a","x":[{}]}"#
    #expect(harness.receives(1, document) == ["fetch 2 https://keys.login.example/a 524288"])
    #expect(harness.receives(2, Self.keys("a")) == ["install a"])
    #expect(harness.after(.seconds(900)) == ["fetch 3 https://keys.login.example/a 524288"])
    #expect(harness.fails(3) == ["report it cannot be reached: refused"])
    #expect(harness.after(.seconds(1)) == ["fetch 4 \(first)"])
  }

  @Test(arguments: [
    "{}", "[]", "<html>", #"{"issuer":"https://login.example"}"#,
    #"{"issuer":"https://login.example/","jwks_uri":"https://a"}"#,
    #"{"issuer":"https://evil.example","jwks_uri":"https://login.example/keys"}"#,
    #"{"issuer":"https://login.example","jwks_uri":"http://login.example/keys"}"#,
    #"{"issuer":"https://login.example","jwks_uri":"file:///etc/passwd"}"#,
    #"{"issuer":"https://login.example","jwks_uri":"https://user@login.example/keys"}"#,
    #"{"issuer":"https://login.example","issuer":"https://login.example","jwks_uri":"https://a"}"#,
  ])
  func `a lying discovery document is refused`(document: String) throws {
    var harness = try Self.discovery()
    _ = harness.start()
    let actions = harness.receives(1, document)
    #expect(actions.count == 1 && actions[0].hasPrefix("report its discovery document"), "\(actions)")
    #expect(!harness.machine.hasKeys)
  }

  @Test(
    arguments: [
      ("https://a.example/keys", nil), ("https://a.example:8443/keys?x=1", nil), ("HTTPS://A.example", nil),
      ("http://localhost:1/k", nil), ("http://127.0.0.1/k", nil), ("http://[::1]:80/k", nil), ("https://[::1]/k", nil),
      ("http://a.example/k", KeySetAddress.Refused.notEncrypted), ("http://localhost.evil.example/k", .notEncrypted),
      ("http://127.0.0.1.evil.example/k", .notEncrypted), ("http://localhost@evil.example/k", .malformed),
      ("http://evil.example\\@localhost/k", .malformed), ("https://", .malformed), ("https:///k", .malformed),
      ("ftp://a.example", .malformed), ("/keys", .malformed), ("", .malformed), ("https://a.example/#x", .malformed),
      ("https://a.example/a b", .malformed), ("https://a.example/\r\nx: y", .malformed),
      ("https://a.example:x/", .malformed),
      ("https://a.example:/", .malformed), ("https://caf\u{E9}.example/", .malformed), ("https://[::1/", .malformed),
    ] as [(String, KeySetAddress.Refused?)])
  func `keys are fetched over https only, except on this machine`(text: String, refusal: KeySetAddress.Refused?) {
    do {
      _ = try KeySetAddress(text)
      #expect(refusal == nil, "\(text)")
    } catch {
      #expect(error == refusal, "\(text)")
    }
  }
}
