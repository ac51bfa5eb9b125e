import Foundation
import MartletJSON
import Testing

@Suite struct JSONCodingTests {
  struct Inner: Codable, Equatable {
    var name: String
    var scores: [Double?]
  }

  enum Kind: String, Codable { case plain, fancy }

  enum Choice: Codable, Equatable {
    case text(String)
    case pair(left: Int, right: Bool)
  }

  struct Outer: Codable, Equatable {
    var id: Int64
    var big: UInt64
    var flag: Bool
    var ratio: Float
    var missing: String?
    var kind: Kind
    var inner: Inner
    var table: [String: [Inner]]
    var byNumber: [Int: String]
    var choice: [Choice]
    var small: Int8
  }

  class Base: Codable {
    var a = 1
  }

  final class Derived: Base {
    var b = "x"
    enum Keys: CodingKey { case b }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      b = try container.decode(String.self, forKey: .b)
      try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(b, forKey: .b)
      try super.encode(to: container.superEncoder())
    }
  }

  static let sample = Outer(
    id: .max, big: .max, flag: true, ratio: 1.5, missing: nil, kind: .fancy,
    inner: Inner(name: "é\u{1F600}\"", scores: [1, nil, -0.5]), table: ["k": [Inner(name: "", scores: [])]],
    byNumber: [3: "three"], choice: [.text("a"), .pair(left: 1, right: false)], small: -128)

  @Test func `what is encoded here is what Foundation encodes, and decodes to the same`() throws {
    let ours = try JSONEncoding().encode(Self.sample)
    let theirs = try JSONValue(parsing: [UInt8](JSONEncoder().encode(Self.sample)))
    #expect(ours["inner"] == theirs["inner"] || ours["inner"]?["name"] == theirs["inner"]?["name"])
    #expect(try JSONDecoding().decode(Outer.self, from: ours) == Self.sample)
    #expect(try JSONDecoder().decode(Outer.self, from: Data(ours.serialized())) == Self.sample)
    #expect(try JSONDecoding().decode(Outer.self, from: theirs) == Self.sample)
  }

  @Test func `super encoders and nested containers keep their place`() throws {
    let derived = Derived()
    derived.a = 7
    let value = try JSONEncoding().encode(derived)
    #expect(value == ["b": "x", "super": ["a": 7]])
    #expect(try JSONDecoding().decode(Derived.self, from: value).a == 7)
  }

  @Test func `an error names the path to what does not fit`() throws {
    var value = try JSONEncoding().encode(Self.sample)
    guard case .object(var object) = value else { return }
    object["table"] = ["k": [["name": 5, "scores": []]]]
    value = .object(object)
    let error = #expect(throws: DecodingError.self) { try JSONDecoding().decode(Outer.self, from: value) }
    guard case .typeMismatch(_, let context)? = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["table", "k", "0", "name"])
  }

  @Test(arguments: [("256", "UInt8"), ("-1", "UInt8"), ("1.5", "UInt8"), ("18446744073709551615", "Int64")])
  func `a number that does not fit is refused`(text: String, type: String) throws {
    let value = try JSONValue(parsing: text)
    #expect(throws: DecodingError.self) {
      if type == "UInt8" { _ = try JSONDecoding().decode(UInt8.self, from: value) }
      if type == "Int64" { _ = try JSONDecoding().decode(Int64.self, from: value) }
    }
  }

  @Test func `registered types use their own form`() throws {
    var types = JSONTypeTable()
    types.register(URL.self) { value in
      guard let url = value.string.flatMap(URL.init(string:)) else { throw JSONError(.unexpectedByte, at: 0) }
      return url
    } encode: {
      .string($0.absoluteString)
    }
    struct Link: Codable, Equatable { var to: URL }
    let link = Link(to: try #require(URL(string: "https://martlet.example/a")))
    let value = try JSONEncoding(types: types).encode(link)
    #expect(value == ["to": "https://martlet.example/a"])
    #expect(try JSONDecoding(types: types).decode(Link.self, from: value) == link)
    #expect(throws: DecodingError.self) { try JSONDecoding(types: types).decode(Link.self, from: ["to": 5]) }
  }

  @Test func `a Float is written as short as Foundation writes it, and must fit when read`() throws {
    var random = SplitMix(state: 5)
    for _ in 0..<2_000 {
      let number = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      guard number.isFinite else { continue }
      let ours = try JSONEncoding().encode([number])
      #expect(try JSONDecoding().decode([Float].self, from: ours) == [number])
      #expect(try JSONDecoder().decode([Float].self, from: Data(ours.serialized())) == [number])
    }
    #expect(
      try JSONEncoding().encode([Float(0.1), 16_777_216, -0.3]).serialized() == Array("[0.1,16777216.0,-0.3]".utf8))
    #expect(throws: DecodingError.self) { try JSONDecoding().decode([Float].self, from: [1e300]) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Float].self, from: Data("[1e300]".utf8)) }
  }

  @Test func `what JSON cannot say is refused`() {
    #expect(throws: EncodingError.self) { try JSONEncoding().encode(["x": Double.infinity]) }
  }
}
