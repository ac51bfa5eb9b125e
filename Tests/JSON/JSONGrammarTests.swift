import Foundation
import MartletJSON
import Testing

@Suite struct JSONGrammarTests {
  @Test(arguments: [
    "0", "-0", "10", "-1.5e+3", "1E-2", "0.0", "true", "false", "null", "\"\"", "\"\\u0000\"",
    "\" \u{7f}\u{80}\u{10ffff}\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "[]", "{}", " [ 1 , 2 ] ", "\t{\r\n\"a\" : [ ] }\n", "\"\\uD834\\uDD1E\"",
    "[[[[[[[[]]]]]]]]", "{\"\":0}", "9223372036854775808", "-9223372036854775808", "123456789012345678901234567890",
    "1e-400", "\"\u{2028}\"",
  ])
  func `what the grammar allows is read, as Foundation reads it`(text: String) throws {
    let value = try JSONValue(parsing: text)
    #expect(try JSONValue(parsing: value.serialized()) == value)
    _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  @Test(arguments: [
    "", " ", "-", "+1", "01", "-01", "1.", ".5", "1.e1", "1e", "1e+", "0x10", "NaN", "Infinity", "tru", "True", "nulll",
    "\"", "\"\\\"", "\"\\a\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uDC00\"", "\"\\uD800\\u0041\"", "\"\t\"", "\"\n\"",
    "'a'",
    "[", "]", "[1", "[1,", "[,1]", "[1,,2]", "[1 2]", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{,}",
    "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}", "[1]x", "1 1", "/* c */ 1", "1e400", "-1e400", "{\"a\":1,\"a\":1}",
    "{\"a\":1,\"\\u0061\":1}", "[\u{feff}]",
  ])
  func `what the grammar does not allow is a typed error`(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
  }

  @Test(
    arguments: [
      [0x22, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22], [0xEF, 0xBB, 0xBF, 0x31],
      [0x22, 0xF8, 0x88, 0x22],
    ] as [[UInt8]])
  func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
  }

  @Test func `an error names its byte`() {
    #expect(throws: JSONError(.unexpectedByte, at: 4)) { try JSONValue(parsing: "[1, x]") }
    #expect(throws: JSONError(.duplicateKey, at: 8)) { try JSONValue(parsing: "{\"k\":1,\"k\":2}") }
    #expect(throws: JSONError(.loneSurrogate, at: 1)) { try JSONValue(parsing: "\"\\udfff\"") }
    #expect(throws: JSONError(.trailingBytes, at: 2)) { try JSONValue(parsing: "1 2") }
    #expect(throws: JSONError(.unexpectedByte, at: 1)) { try JSONValue(parsing: "[tx]") }
    #expect(throws: JSONError(.unexpectedEnd, at: 5)) { try JSONValue(parsing: "[fals") }
  }

  @Test func `the policies for duplicate names keep the first or the last`() throws {
    let text = #"{"b":{},"a":1,"x":[{"a":1,"a":2}],"a":[2,3],"b":null,"a":{"z":1,"z":2}}"#
    var limits = JSONLimits()
    limits.duplicateKeys = .keepFirst
    #expect(try JSONValue(parsing: text, limits: limits) == ["b": [:], "a": 1, "x": [["a": 1]]])
    limits.duplicateKeys = .keepLast
    #expect(try JSONValue(parsing: text, limits: limits) == ["b": nil, "a": ["z": 2], "x": [["a": 2]]])
    let many = "{" + (0..<100).map { "\"k\($0 % 40)\":\($0)" }.joined(separator: ",") + "}"
    let value = try JSONValue(parsing: many, limits: limits)
    #expect(value.object?.count == 40)
    #expect(value["k3"] == 83)
    #expect(value["k39"] == 79)
  }

  @Test func `lenient policies drop any mix of members and keep the rest`() throws {
    var random = SplitMix(state: 23)
    for policy in [JSONLimits.DuplicateKeys.keepFirst, .keepLast] {
      var limits = JSONLimits()
      limits.duplicateKeys = policy
      for _ in 0..<300 {
        let names = (0..<Int(random.next() % 40)).map { _ in "k\(random.next() % 20)" }
        let text = names.enumerated().map { "\"\($1)\":[{\"n\":\($0)}]" }.joined(separator: ",")
        var kept: [String: Int] = [:]
        for (index, name) in names.enumerated() {
          switch policy {
          case .keepFirst: kept[name] = kept[name] ?? index
          case .keepLast, .reject: kept[name] = index
          }
        }
        let value = try JSONValue(parsing: "[{\(text)},7]", limits: limits)
        #expect(value[1] == 7)
        #expect(value[0]?.object?.count == kept.count)
        for (name, index) in kept { #expect(value[0]?[name]?[0]?["n"] == .int(Int64(index))) }
      }
    }
  }

  @Test func `a byte that matters is found at every place of a word`() throws {
    for length in 0..<20 {
      for place in 0...length {
        for (piece, meaning) in [
          ("\\n", "\n"), ("\u{e9}", "\u{e9}"), ("\\u001f", "\u{1f}"), ("\\\"", "\""), ("!", "!"),
        ] {
          let before = String(repeating: "a", count: place)
          let after = String(repeating: "[", count: length - place)
          let value = try JSONValue(parsing: "\"\(before)\(piece)\(after)\"")
          #expect(value == .string(before + meaning + after))
          #expect(try JSONValue(parsing: value.serialized()) == value)
        }
        let text = Array("\"".utf8) + Array(repeating: 0x61, count: place)
        let rest = Array(repeating: UInt8(0x20), count: length - place) + Array("\"".utf8)
        #expect(throws: JSONError(.controlCharacter, at: place + 1)) { try JSONValue(parsing: text + [0x1F] + rest) }
        #expect(throws: JSONError(.malformedUTF8, at: place + 1)) { try JSONValue(parsing: text + [0xFF] + rest) }
      }
    }
  }

  @Test func `no setting of the depth lets a text overflow the stack`() {
    var limits = JSONLimits()
    limits.depth = .max
    let deepest = JSONLimits.deepest
    func nested(_ depth: Int) -> [UInt8] { Array(repeating: 0x5B, count: depth) + Array(repeating: 0x5D, count: depth) }
    #expect(throws: Never.self) { try JSONValue(parsing: nested(deepest), limits: limits) }
    #expect(throws: JSONError(.tooDeep, at: deepest)) { try JSONValue(parsing: nested(deepest + 1), limits: limits) }
    #expect(throws: JSONError(.tooDeep, at: deepest)) { try JSONValue(parsing: nested(200_000), limits: limits) }
  }

  @Test func `size and depth are limits`() {
    var limits = JSONLimits()
    limits.bytes = 4
    #expect(throws: JSONError(.tooLarge, at: 4)) { try JSONValue(parsing: "[1,2]", limits: limits) }
    limits = JSONLimits()
    limits.depth = 2
    #expect(throws: Never.self) { try JSONValue(parsing: "[[1]]", limits: limits) }
    #expect(throws: JSONError(.tooDeep, at: 2)) { try JSONValue(parsing: "[[[1]]]", limits: limits) }
  }

  @Test func `an object agrees with a naive one over random edits`() {
    var random = SplitMix(state: 7)
    var object = JSONObject()
    var naive: [(String, JSONValue)] = []
    for step in 0..<4_000 {
      let key = "k\(random.next() % 24)"
      if random.next() % 3 == 0 {
        object[key] = nil
        naive.removeAll { $0.0 == key }
      } else {
        object[key] = .int(Int64(step))
        if let index = naive.firstIndex(where: { $0.0 == key }) {
          naive[index].1 = .int(Int64(step))
        } else {
          naive.append((key, .int(Int64(step))))
        }
      }
      let matches = object.count == naive.count && zip(object, naive).allSatisfy { $0.key == $1.0 && $0.value == $1.1 }
      guard matches, naive.allSatisfy({ object[$0.0] == $0.1 }), object["none"] == nil else {
        Issue.record("differs at step \(step)")
        return
      }
    }
    let shuffled = JSONObject(naive.reversed().map { (key: $0.0, value: $0.1) })
    #expect(shuffled == object)
    #expect(shuffled.hashValue == object.hashValue)
  }
}

/// A small seeded generator, so that every run makes the same documents.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
