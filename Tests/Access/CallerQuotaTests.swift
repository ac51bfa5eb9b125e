import MartletAccess
import MartletVocabulary
import Testing

/// What callers may use, as decisions over imaginary time.
@Suite struct CallerQuotaTests {
  private static func at(_ seconds: Double) -> Instant { .zero + .microseconds(Int((seconds * 1_000_000).rounded())) }
  private static func identity(_ name: String) -> CallerQuotas.Party { .init(.identity, Array(name.utf8)) }
  private static func address(_ byte: UInt8) -> CallerQuotas.Party { .init(.address, [10, 0, 0, byte]) }

  private static func spend(
    _ quotas: inout CallerQuotas, _ use: QuotaUse, _ parties: [CallerQuotas.Party], _ seconds: Double
  ) -> QuotaRefusal? {
    do { try quotas.spend(use, by: parties, at: at(seconds)) } catch { return error }
    return nil
  }

  @Test func `a rate allows its burst at once, then as much as time allows, and says when`() {
    var quotas = CallerQuotas(
      identity: QuotaAllowance(operationsPerSecond: 10), address: QuotaAllowance(), burst: .seconds(2), capacity: 10)
    let one = QuotaUse(operations: 1, bytes: 5_000, cost: 5_000)
    for _ in 0..<20 { #expect(Self.spend(&quotas, one, [Self.identity("a")], 0) == nil) }
    let refusal = Self.spend(&quotas, one, [Self.identity("a")], 0)
    #expect(refusal == QuotaRefusal(.identity, .operations, retryAfter: .milliseconds(100)))
    #expect(refusal?.limit == "callers.operationsPerSecondPerIdentity")
    // A refusal spends nothing, another identity is not affected, and the time that was named is right.
    #expect(Self.spend(&quotas, one, [Self.identity("b")], 0) == nil)
    #expect(Self.spend(&quotas, one, [Self.identity("a")], 0.0999) != nil)
    #expect(Self.spend(&quotas, one, [Self.identity("a")], 0.1) == nil)
    #expect(Self.spend(&quotas, one, [Self.identity("a")], 0.1) != nil)
  }

  @Test func `one large amount is allowed when nothing is used up, and paid for afterwards`() {
    var quotas = CallerQuotas(
      identity: QuotaAllowance(bytesPerSecond: 1_000), address: QuotaAllowance(), burst: .seconds(1), capacity: 10)
    #expect(Self.spend(&quotas, QuotaUse(bytes: 10_000), [Self.identity("a")], 0) == nil)
    #expect(
      Self.spend(&quotas, QuotaUse(bytes: 1), [Self.identity("a")], 0)?.retryAfter == .milliseconds(9_001))
    #expect(Self.spend(&quotas, QuotaUse(bytes: 1), [Self.identity("a")], 9.001) == nil)
    #expect(Self.spend(&quotas, QuotaUse(bytes: .max), [Self.identity("c")], 0) == nil)
    #expect(Self.spend(&quotas, QuotaUse(bytes: 1), [Self.identity("c")], 1_000) != nil, "nothing overflows")
  }

  @Test func `what one party is refused is spent for none`() {
    var quotas = CallerQuotas(
      identity: QuotaAllowance(operationsPerSecond: 100), address: QuotaAllowance(costPerSecond: 10),
      burst: .seconds(1), capacity: 10)
    let use = QuotaUse(operations: 1, cost: 10)
    #expect(Self.spend(&quotas, use, [Self.identity("a"), Self.address(1)], 0) == nil)
    for _ in 0..<500 {
      #expect(
        Self.spend(&quotas, use, [Self.identity("a"), Self.address(1)], 0)?.limit == "callers.costPerSecondPerAddress")
    }
    // The identity has used one of its hundred.
    for _ in 0..<99 { #expect(Self.spend(&quotas, QuotaUse(operations: 1), [Self.identity("a")], 0) == nil) }
    #expect(Self.spend(&quotas, QuotaUse(operations: 1), [Self.identity("a")], 0) != nil)
  }

  @Test func `connections and subscriptions are counted until they are released`() throws {
    var quotas = CallerQuotas(
      identity: QuotaAllowance(connections: 2, subscriptions: 1), address: QuotaAllowance(connections: 3),
      burst: .seconds(1), capacity: 10)
    let parties = [Self.identity("a"), Self.address(1)]
    let first = try quotas.hold(.connections, by: parties, at: .zero)
    _ = try quotas.hold(.connections, by: parties, at: .zero)
    #expect(throws: QuotaRefusal(.identity, .connections)) { try quotas.hold(.connections, by: parties, at: .zero) }
    let guest = try quotas.hold(.connections, by: [Self.address(1)], at: .zero)
    #expect(throws: QuotaRefusal(.address, .connections)) {
      try quotas.hold(.connections, by: [Self.address(1)], at: .zero)
    }
    quotas.release(first)
    quotas.release(guest)
    _ = try quotas.hold(.connections, by: parties, at: .zero)
    _ = try quotas.hold(.subscriptions, by: parties, at: .zero)
    #expect(throws: QuotaRefusal(.identity, .subscriptions)) { try quotas.hold(.subscriptions, by: parties, at: .zero) }
  }

  @Test func `the table is bounded: what is idle makes room, and beyond it newcomers share`() throws {
    var quotas = CallerQuotas(
      identity: QuotaAllowance(connections: 1, operationsPerSecond: 1), address: QuotaAllowance(), burst: .seconds(1),
      capacity: 4)
    // Ten thousand names at once: four have entries, the others share one.
    var allowed = 0
    for number in 0..<10_000 where Self.spend(&quotas, QuotaUse(operations: 1), [Self.identity("\(number)")], 0) == nil
    {
      allowed += 1
    }
    #expect(allowed == 5)
    #expect(quotas.count <= 5)
    // When they are idle, others take their places.
    for number in 0..<4 {
      #expect(Self.spend(&quotas, QuotaUse(operations: 1), [Self.identity("later \(number)")], 10) == nil)
    }
    #expect(quotas.count <= 5)
    let held = try quotas.hold(.connections, by: [Self.identity("held")], at: Self.at(20))
    for number in 0..<100 {
      _ = Self.spend(&quotas, QuotaUse(operations: 1), [Self.identity("x\(number)")], 40 + Double(number) * 2)
    }
    // What is held stays in its place, whatever came meanwhile.
    #expect(throws: QuotaRefusal.self) { try quotas.hold(.connections, by: [Self.identity("held")], at: Self.at(300)) }
    quotas.release(held)
    _ = try quotas.hold(.connections, by: [Self.identity("held")], at: Self.at(300))
  }

  @Test func `random use never exceeds rate and burst of a naive count`() {
    for seed in 0..<20 as Range<UInt64> {
      var chance = SeededRandom(seed: seed)
      let rate = Int(chance.next() % 20) + 1
      var quotas = CallerQuotas(
        identity: QuotaAllowance(operationsPerSecond: rate), address: QuotaAllowance(), burst: .seconds(2), capacity: 10
      )
      var spent: [(Double, Int)] = []
      var seconds = 0.0
      for _ in 0..<400 {
        seconds += Double(chance.next() % 100) / 1_000
        let amount = Int(chance.next() % 3) + 1
        if Self.spend(&quotas, QuotaUse(operations: amount), [Self.identity("a")], seconds) == nil {
          spent.append((seconds, amount))
        }
      }
      // In every window of time no more than the rate and its burst, and one amount.
      var isExceeded = false
      for start in spent.indices {
        var sum = 0
        for (time, amount) in spent[start...] {
          sum += amount
          if Double(sum) > Double(rate) * (time - spent[start].0 + 2) + 3.001 { isExceeded = true }
        }
      }
      #expect(!isExceeded, "seed \(seed)")
    }
  }
}
