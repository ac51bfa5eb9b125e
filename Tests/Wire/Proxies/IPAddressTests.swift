import MartletWire
import Testing

/// Addresses and ranges as text.
@Suite struct IPAddressTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
    ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("2001:db8::0:1", "2001:db8::1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
    ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:0:0:2:2:0:0:3", "1::2:2:0:0:3"),
  ])
  func `an address is read and written in its shortest form`(text: String, shown: String) {
    #expect(IPAddress(text)?.description == shown)
    #expect(IPAddress(shown).map { $0 } == IPAddress(text))
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "+1.2.3.4", ":", ":::", "1:2",
    "::1::",
    "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::", "g::", "::1%eth0", "1.2.3.4::",
    "::1.2.3", "localhost", "1:2:3:4:5:6:7", ":1:2:3:4:5:6:7:8",
  ])
  func `other texts are refused`(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `an address may have a port where one may follow`() {
    for (text, shown) in [
      ("192.0.2.1:80", "192.0.2.1"), ("192.0.2.1", "192.0.2.1"), ("[::1]:443", "::1"), ("[::1]", "::1"), ("::1", "::1"),
    ] { #expect(IPAddress(node: text)?.description == shown, "\(text)") }
    for text in ["192.0.2.1:", "[::1", "[192.0.2.1]", "[::1]443", "[::1]:x", "192.0.2.1:123456", "[]", "[]:1"] {
      #expect(IPAddress(node: text) == nil, "\(text)")
    }
  }

  @Test func `a range holds the addresses with its prefix and no others`() throws {
    let cases: [(String, [String], [String])] = [
      ("10.0.0.0/8", ["10.0.0.0", "10.255.1.2", "::ffff:10.1.1.1"], ["11.0.0.0", "::1", "9.255.255.255"]),
      ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
      ("192.0.2.1", ["192.0.2.1"], ["192.0.2.2"]), ("0.0.0.0/0", ["1.2.3.4"], ["::2"]),
      ("2001:db8::/33", ["2001:db8:7fff::1"], ["2001:db8:8000::"]), ("::1", ["::1"], ["::2", "127.0.0.1"]),
    ]
    for (text, inside, outside) in cases {
      let range = try AddressRange(text)
      for address in inside { #expect(range.contains(try #require(IPAddress(address))), "\(text) \(address)") }
      for address in outside { #expect(!range.contains(try #require(IPAddress(address))), "\(text) \(address)") }
    }
    for text in ["10.0.0.0/33", "10.1.0.0/8", "10.0.0.0/", "10.0.0.0/a", "x/8", "::/129", "10.0.0.0/-1", ""] {
      #expect(throws: AddressRange.Malformed.self, "\(text)") { try AddressRange(text) }
    }
  }
}
