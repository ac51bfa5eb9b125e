import Foundation
import MartletJSON
import Testing

/// The same verdict and value as Foundation on generated documents, valid and damaged.
///
/// Differences that are meant: Foundation keeps one of two members with the same name, takes any of UTF-16 and UTF-32
/// and a byte order mark, reads integers beyond 64 bits as doubles or decimals (so do we, as doubles), and allows
/// deeper nesting than our default.
@Suite struct JSONDifferentialTests {
  @Test func `6,000 generated documents mean what Foundation says`() throws {
    var random = SplitMix(state: 20_130_101)
    var valid = 0
    var refused = 0
    for number in 0..<6_000 {
      var bytes: [UInt8] = []
      append(&bytes, depth: 0, &random)
      if number.isMultiple(of: 2) { damage(&bytes, &random) }
      let ours = Result { try JSONValue(parsing: bytes) }
      let theirs = Result { try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) }
      switch (ours, theirs) {
      case (.success(let value), .success(let object)):
        valid += 1
        guard agree(value, object) else {
          Issue.record("document \(number) means something else: \(String(decoding: bytes, as: UTF8.self))")
          return
        }
        #expect(try JSONValue(parsing: value.serialized()) == value)
      case (.failure, .failure): refused += 1
      case (.failure(let error as JSONError), .success):
        // A name that occurs twice is an error by our default policy alone.
        guard error.code == .duplicateKey || bytes.contains(0) else {
          Issue.record("document \(number): only we refuse it, \(error): \(String(decoding: bytes, as: UTF8.self))")
          return
        }
      case (.success, .failure), (.failure, .success):
        // Foundation looks for UTF-16 and UTF-32 first, and a damaged document may look like one.
        guard bytes.prefix(4).contains(0) || bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) else {
          Issue.record("document \(number): only Foundation refuses it: \(String(decoding: bytes, as: UTF8.self))")
          return
        }
      }
    }
    #expect(valid > 3_000)
    #expect(refused > 1_500)
  }

  @Test func `random doubles survive bit for bit`() throws {
    var random = SplitMix(state: 3)
    for _ in 0..<20_000 {
      let number = Double(bitPattern: random.next())
      guard number.isFinite else { continue }
      let text = JSONValue.double(number).serialized()
      let back = try JSONValue(parsing: text)
      #expect(back.double?.bitPattern == number.bitPattern, "\(String(decoding: text, as: UTF8.self))")
    }
  }

  @Test func `random bytes never trap`() {
    var random = SplitMix(state: 11)
    var read = 0
    for _ in 0..<5_000 {
      let alphabet = Array("{}[]\",:0123456789.eE+-truefalsnu\\ \u{e9}".utf8)
      let bytes = (0..<Int(random.next() % 40)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
      if (try? JSONValue(parsing: bytes)) != nil { read += 1 }
    }
    #expect(read > 0)
  }

  private func agree(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let flag): return (theirs as? Bool) == flag
    case .int(let number): return (theirs as? NSNumber)?.int64Value == number
    case .uint(let number): return (theirs as? NSNumber)?.uint64Value == number
    case .double(let number):
      guard let other = (theirs as? NSNumber)?.doubleValue else { return false }
      return other == number || abs(other - number) <= abs(number) * 1e-15
    case .string(let text): return (theirs as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
    case .array(let elements):
      guard let others = theirs as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy { agree($0, $1) }
    case .object(let members):
      guard let others = theirs as? [String: Any] else { return false }
      // Foundation's dictionary also merges names that differ in composition only.
      return members.allSatisfy { member in others[member.key].map { agree(member.value, $0) } ?? false }
    }
  }

  private func append(_ bytes: inout [UInt8], depth: Int, _ random: inout SplitMix) {
    switch random.next() % (depth > 4 ? 7 : 10) {
    case 0: bytes += "null".utf8
    case 1: bytes += random.next() % 2 == 0 ? "true".utf8 : "false".utf8
    case 2: bytes += "\(Int64(bitPattern: random.next()))".utf8
    case 3: bytes += "\(Int64(random.next() % 2_000) - 1_000)".utf8
    case 4:
      let number = Double(Int64(random.next() % 1_000_000) - 500_000) / 1_024
      bytes += "\(number)".utf8
    case 5, 6: string(&bytes, &random)
    case 7, 8:
      bytes += "[".utf8
      for index in 0..<Int(random.next() % 5) {
        if index > 0 { bytes += random.next() % 3 == 0 ? " ,\n".utf8 : ",".utf8 }
        append(&bytes, depth: depth + 1, &random)
      }
      bytes += "]".utf8
    default:
      bytes += "{".utf8
      for index in 0..<Int(random.next() % 6) {
        if index > 0 { bytes += ",".utf8 }
        bytes += "\"k\(random.next() % 400)\"".utf8
        bytes += random.next() % 3 == 0 ? " : ".utf8 : ":".utf8
        append(&bytes, depth: depth + 1, &random)
      }
      bytes += "}".utf8
    }
  }

  private func string(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    let pieces = [
      "a", "é", "e\u{301}", "😀", "\\n", "\\u0041", "\\ud83d\\ude00", "\\\\", "\\\"", "/", "\\/", " ", "\u{7f}",
    ]
    bytes += "\"".utf8
    for _ in 0..<Int(random.next() % 8) { bytes += pieces[Int(random.next() % UInt64(pieces.count))].utf8 }
    bytes += "\"".utf8
  }

  /// Changes, drops or doubles a byte or two.
  private func damage(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    for _ in 0...Int(random.next() % 2) where !bytes.isEmpty {
      let index = Int(random.next() % UInt64(bytes.count))
      switch random.next() % 3 {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes.remove(at: index)
      default: bytes.insert(bytes[index], at: index)
      }
    }
  }
}
