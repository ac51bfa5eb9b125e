/// Checks on an RSA modulus, given as big-endian bytes without leading zeros.
enum RSAModulus {
  static func bitCount(_ modulus: [UInt8]) -> Int {
    guard let first = modulus.first else { return 0 }
    return modulus.count * 8 - first.leadingZeroBitCount
  }

  /// Whether the modulus has the form of keys from the generator of CVE-2017-15361: a power of 65,537 modulo every
  /// small prime. A random modulus has it with a probability below 2⁻²⁷.
  static func isFactorable(_ modulus: [UInt8]) -> Bool {
    primes.allSatisfy { prime in
      let rest = modulus.reduce(0) { ($0 << 8 | Int($1)) % prime }
      var power = 1
      repeat {
        if power == rest { return true }
        power = power * (65_537 % prime) % prime
      } while power != 1
      return false
    }
  }

  /// The primes by which the generator's keys are distinguished from others (Nemec et al., 2017).
  private static let primes = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    113,
    127, 131, 137, 139, 149, 151, 157, 163, 167,
  ]
}
