import MartletTokens
import MartletVocabulary
import Testing

@Suite struct TokenCacheTests {
  static func key(_ number: UInt8) throws -> TokenKey {
    try TokenKey(id: "k\(number)", algorithm: .hs256, material: .secret([UInt8](repeating: number, count: 32)))
  }

  static func entry(_ key: TokenKey, end: Duration?, start: Duration? = nil) throws -> TokenCache.Entry {
    TokenCache.Entry(claims: try TokenClaims(Array("{}".utf8), depth: 4), key: key, end: end, start: start)
  }

  @Test func `a token is found from its start until exactly its end`() throws {
    var cache = TokenCache(capacity: 10)
    let entry = try Self.entry(Self.key(1), end: .seconds(100), start: .seconds(10))
    cache.insert(entry, for: [1])
    #expect(cache.find([1], at: .seconds(9)) == nil)
    #expect(cache.find([1], at: .seconds(10)) == entry)
    #expect(cache.find([1], at: .milliseconds(99_999)) == entry)
    #expect(cache.find([2], at: .seconds(50)) == nil)
    #expect(cache.find([1], at: .seconds(100)) == nil)
    #expect(cache.count == 0)
  }

  @Test func `when a key is withdrawn its tokens are verified again, and the others are not`() throws {
    var cache = TokenCache(capacity: 10)
    let (one, two) = (try Self.key(1), try Self.key(2))
    cache.insert(try Self.entry(one, end: nil), for: [1])
    cache.insert(try Self.entry(two, end: nil), for: [2])
    cache.retain(keys: [two])
    #expect(cache.find([1], at: .zero) == nil)
    #expect(cache.find([2], at: .zero) != nil)
    // The same name with other material is another key.
    let replaced = try TokenKey(id: "k2", algorithm: .hs256, material: .secret([UInt8](repeating: 9, count: 32)))
    cache.retain(keys: [replaced])
    #expect(cache.count == 0)
  }

  @Test func `the cache keeps the tokens that were used last, as a list that is searched does`() throws {
    let key = try Self.key(1)
    for seed in UInt64(1)...20 {
      var chance = SeededRandom(seed: seed)
      let capacity = Int.random(in: 0...8, using: &chance)
      var cache = TokenCache(capacity: capacity)
      var model: [(digest: UInt8, entry: TokenCache.Entry)] = []
      var now = 0
      for _ in 0..<2_000 {
        let digest = UInt8.random(in: 0..<16, using: &chance)
        switch Int.random(in: 0..<10, using: &chance) {
        case 0..<4:
          let end: Duration? =
            Bool.random(using: &chance) ? .seconds(now + Int.random(in: 1...20, using: &chance)) : nil
          let entry = try Self.entry(key, end: end)
          cache.insert(entry, for: [digest])
          model.removeAll { $0.digest == digest }
          if capacity > 0 { model.append((digest, entry)) }
          if model.count > capacity { model.removeFirst() }
        case 4: now += 1
        case 5 where Int.random(in: 0..<20, using: &chance) == 0:
          cache.removeAll()
          model = []
        default:
          var expected: TokenCache.Entry?
          if let position = model.firstIndex(where: { $0.digest == digest }) {
            let known = model.remove(at: position)
            if known.entry.end.map({ .seconds(now) < $0 }) ?? true {
              expected = known.entry
              model.append(known)
            }
          }
          #expect(cache.find([digest], at: .seconds(now)) == expected, "seed \(seed)")
        }
        #expect(cache.count == model.count, "seed \(seed)")
      }
    }
  }

  @Test func `a client is warned once before the end, and ends exactly`() {
    let end = Instant.zero + .seconds(100)
    var life = TokenLifetime(end: end, lead: .seconds(30))
    #expect(life.deadline == Instant.zero + .seconds(70))
    #expect(life.reached(Instant.zero + .seconds(69)) == nil)
    #expect(life.reached(Instant.zero + .seconds(70)) == .warn(endsAt: end))
    #expect(life.deadline == end)
    #expect(life.reached(Instant.zero + .seconds(80)) == nil)
    #expect(life.reached(Instant(nanoseconds: end.nanoseconds - 1)) == nil)
    #expect(life.reached(end) == .end)
    #expect(life.deadline == nil)
    #expect(life.reached(end + .seconds(1)) == nil)
    let tooLate = life.renew(end: nil)
    #expect(!tooLate)
  }

  @Test func `another token moves the end, warns again, and may have none`() {
    var life = TokenLifetime(end: Instant.zero + .seconds(100), lead: .seconds(30))
    _ = life.reached(Instant.zero + .seconds(70))
    let isMoved = life.renew(end: Instant.zero + .seconds(200))
    #expect(isMoved)
    #expect(life.reached(Instant.zero + .seconds(100)) == nil)
    #expect(life.reached(Instant.zero + .seconds(170)) == .warn(endsAt: Instant.zero + .seconds(200)))
    let isEndless = life.renew(end: nil)
    #expect(isEndless)
    #expect(life.deadline == nil)
    #expect(life.reached(Instant.zero + .seconds(1_000)) == nil)
  }

  @Test func `a short token is warned about at once, and a late look ends without a warning`() {
    var life = TokenLifetime(end: Instant.zero + .seconds(10), lead: .seconds(30))
    #expect(life.reached(.zero) == .warn(endsAt: Instant.zero + .seconds(10)))
    var late = TokenLifetime(end: Instant.zero + .seconds(10), lead: .seconds(3))
    #expect(late.reached(Instant.zero + .seconds(11)) == .end)
  }
}
