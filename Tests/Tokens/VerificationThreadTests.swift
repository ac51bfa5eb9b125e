import MartletTokens
import Testing

/// One imported key checks signatures on many threads at once.
@Suite struct VerificationThreadTests {
  @Test(arguments: TokenAlgorithm.allCases)
  func `a key that is used by several threads accepts its signatures and no other`(algorithm: TokenAlgorithm)
    async throws
  {
    let harness = try TokenHarness(keys: MadeTokens.keys)
    let good = try #require(MadeTokens.tokens[algorithm.rawValue])
    let dot = try #require(good.lastIndex(of: "."))
    let signature = try #require(Base64URL.decode(good[good.index(after: dot)...].utf8))
    let bad = String(good[...dot]) + Mint.text(signature.reversed())
    let wrong = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<8).count { _ in harness.refusal(good) != nil || harness.refusal(bad) != .wrongSignature }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }
}
