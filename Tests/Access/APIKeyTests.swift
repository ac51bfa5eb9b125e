import MartletAccess
import MartletJSON
import Testing

@Suite struct APIKeyTests {
  static let digest = String(repeating: "0a", count: 32)

  static func key(_ members: String) throws -> APIKey {
    try APIKey(JSONValue(parsing: #"{"name":"board","sha256":"\#(digest)"\#(members)}"#))
  }

  @Test(arguments: [
    "", #","operations":["read"]"#, #","operations":["create","delete","read"]"#, #","operations":["get","list"]"#,
    #","models":["Flight","Gate"]"#, #","expires":1893456000"#,
    #","introspection":true"#, #","introspection":false"#,
    #","operations":["update","read"],"models":["Flight"],"expires":1893456000"#,
  ])
  func `an entry is written as it was read`(members: String) throws {
    let key = try Self.key(members)
    #expect(try APIKey(.object(key.entry)) == key)
    #expect(JSONValue.object(key.entry).description == #"{"name":"board","sha256":"\#(Self.digest)"\#(members)}"#)
  }

  @Test(arguments: [
    (#","operations":[]"#, "\"operations\""), (#","operations":"read""#, "\"operations\""),
    (#","operations":["write"]"#, "\"write\""), (#","models":[1]"#, "\"models\""), (#","models":[]"#, "\"models\""),
    (#","expires":"2030-01-01""#, "\"expires\""), (#","expires":0"#, "\"expires\""),
    (#","expires":1.5"#, "\"expires\""), (#","introspection":"yes""#, "\"introspection\""),
    (#","expires":1893456000000"#, "\"expires\""), (#","model":["Flight"]"#, "\"model\""),
  ])
  func `a mistake in an entry is refused, and never a wider key`(members: String, named: String) {
    #expect { try Self.key(members) } throws: { error in
      (error as? APIKey.Malformed)?.description.contains(named) ?? false
    }
  }

  @Test(arguments: [
    "1", "{}", #"{"name":""}"#, #"{"name":"a"}"#, #"{"name":"a","sha256":"+f"}"#, #"{"name":"a","sha256":"0a"}"#,
  ])
  func `an entry without a name or a digest is refused`(entry: String) throws {
    let value = try JSONValue(parsing: entry)
    #expect(throws: APIKey.Malformed.self) { try APIKey(value) }
  }

  @Test func `a key is found by every byte of its digest until it expires`() throws {
    let keys = (0..<4).map { number in
      APIKey(
        name: "k\(number)", digest: [UInt8](repeating: UInt8(number), count: 32),
        expires: number == 3 ? .seconds(100) : nil)
    }
    let ring = try APIKeyRing(keys)
    for key in keys { #expect(ring.find(key.digest, at: .zero) == .accepted(key)) }
    for position in 0..<32 {
      var other = keys[1].digest
      other[position] ^= 0x80
      #expect(ring.find(other, at: .zero) == .unknown)
    }
    #expect(ring.find([], at: .zero) == .unknown)
    #expect(ring.find(keys[1].digest + [1], at: .zero) == .unknown)
    #expect(ring.find(Array(keys[1].digest.dropLast()), at: .zero) == .unknown)
    #expect(ring.find(keys[3].digest, at: .milliseconds(99_999)) == .accepted(keys[3]))
    #expect(ring.find(keys[3].digest, at: .seconds(100)) == .expired(keys[3]))
  }

  @Test func `a key that was narrowed, withdrawn or has expired is no longer accepted`() throws {
    var key = APIKey(name: "board", digest: [UInt8](repeating: 7, count: 32), expires: .seconds(100))
    let before = key
    #expect(try APIKeyRing([key]).stillAccepts(before, at: .zero))
    #expect(try !APIKeyRing([key]).stillAccepts(before, at: .seconds(100)))
    #expect(try !APIKeyRing([]).stillAccepts(before, at: .zero))
    key.expires = .seconds(200)
    #expect(try APIKeyRing([key]).stillAccepts(before, at: .zero))
    key.expires = nil
    #expect(try APIKeyRing([key]).stillAccepts(before, at: .zero))
    key.expires = .seconds(50)
    #expect(try !APIKeyRing([key]).stillAccepts(before, at: .zero))
    key.expires = before.expires
    key.scope.operations = AccessOperation.reads
    #expect(try !APIKeyRing([key]).stillAccepts(before, at: .zero))
  }

  @Test func `two keys of one name and two names of one key are refused`() {
    let one = APIKey(name: "a", digest: [1])
    #expect(throws: APIKeyRing.Conflict.sameName("a")) { try APIKeyRing([one, APIKey(name: "a", digest: [2])]) }
    #expect(throws: APIKeyRing.Conflict.sameDigest("a", "b")) { try APIKeyRing([one, APIKey(name: "b", digest: [1])]) }
  }

  @Test func `a scope holds its operations on its models only`() {
    let scope = AccessScope(operations: [.get], models: ["Flight"])
    #expect(scope.contains(.get, on: "Flight"))
    #expect(!scope.contains(.list, on: "Flight"))
    #expect(!scope.contains(.get, on: "Gate"))
    #expect(AccessScope.everything.contains(.delete, on: "Gate"))
    #expect(AccessOperation.named("read") == [.get, .list, .listen, .sync, .search])
    #expect(AccessOperation.named("write") == nil)
  }
}
