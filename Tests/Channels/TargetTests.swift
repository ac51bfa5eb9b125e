import MartletChannels
import MartletWire
import Testing

/// Addresses that are judged, the turns of a target, signatures and answers.
@Suite struct TargetTests {
  @Test(arguments: [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1",
  ])
  func `an address that no public service has is refused`(text: String) throws {
    #expect(!OutgoingRanges().allows(try #require(IPAddress(text))))
  }

  @Test(arguments: ["1.1.1.1", "172.32.0.1", "2606:4700::1111", "192.169.0.1", "::ffff:8.8.8.8"])
  func `a public address is allowed`(text: String) throws {
    #expect(OutgoingRanges().allows(try #require(IPAddress(text))))
  }

  @Test func `an operator can allow a range, and no other`() throws {
    let ranges = OutgoingRanges(allowing: [try AddressRange("127.0.0.0/8")])
    #expect(ranges.allows(try #require(IPAddress("127.0.0.1"))))
    #expect(!ranges.allows(try #require(IPAddress("10.0.0.1"))))
  }

  @Test(arguments: [
    ("https://a.example/x", "a.example", 443), ("http://a.example:8080", "a.example", 8080),
    ("https://[2606:4700::1]:444/", "2606:4700::1", 444), ("HTTPS://A.example?q=1", "A.example", 443),
  ])
  func `a URL is split into what a connection needs`(url: String, host: String, port: Int) throws {
    let address = try TargetAddress(url)
    #expect(address.host == host)
    #expect(address.port == port)
  }

  @Test(arguments: [
    "ftp://a.example/", "https://", "https://user:secret@a.example/", "https://a.example:0/",
    "https://a.example:99999/",
    "https://a.example/#x", "https://a.example\\@127.0.0.1/", "https://a b/", "https://[::1/", "//a.example/",
    "https://127.0.0.1%00/", "https://exämple/",
  ])
  func `a URL whose host is not clear is refused`(url: String) {
    #expect(throws: ChannelError.self) { try TargetAddress(url) }
  }

  @Test func `a target serves so many channels at a time, the others in their order`() {
    var slots = TargetSlots(limit: 2)
    #expect(slots.take("a") == true)
    #expect(slots.take("b") == true)
    #expect(slots.take("c") == false)
    #expect(slots.take("d") == false)
    #expect(slots.release("a") == "c")
    // Who comes later does not overtake.
    #expect(slots.take("a") == false)
    #expect(slots.take("c") == true)
    #expect(slots.leave("d") == nil)
    #expect(slots.release("b") == "a")
    #expect(slots.take("a") == true)
    #expect(slots.waitingCount == 0)
    #expect(slots.activeCount == 2)
  }

  @Test func `the signed content and the field are those of the specification`() throws {
    let content = WebhookSignature.content(id: "msg_1", seconds: 12, body: Array("{}".utf8))
    #expect(String(decoding: content, as: UTF8.self) == "msg_1.12.{}")
    #expect(WebhookSignature.field([Array("any carnal pleas".utf8), [0xFF]]) == "v1,YW55IGNhcm5hbCBwbGVhcw== v1,/w==")
    let key = try WebhookSignature.key("whsec_YW55IGNhcm5hbCBwbGVhcw==")
    #expect(String(decoding: key, as: UTF8.self) == "any carnal pleas")
    for secret in ["short", "whsec_!!!!", "whsec_YQ=="] {
      #expect(throws: ChannelError.self) { try WebhookSignature.key(secret) }
    }
  }

  @Test func `an answer is a delivery, a failure or a refusal`() {
    #expect(WebhookAnswer.outcome(204, retryAfter: nil, at: 0) == .delivered)
    for status in [100, 302, 400, 404, 429, 500, 999] {
      guard case .failed = WebhookAnswer.outcome(status, retryAfter: nil, at: 0) else {
        Issue.record("\(status)")
        continue
      }
    }
    guard case .refused = WebhookAnswer.outcome(410, retryAfter: nil, at: 0) else {
      Issue.record("410")
      return
    }
    #expect(Self.pause("120") == 120_000)
    #expect(Self.pause("Sun, 06 Nov 1994 08:49:37 GMT", at: 784_111_777 - 5) == 5_000)
    #expect(Self.pause("Thu, 01 Jan 1970 00:00:10 GMT") == 10_000)
    #expect(Self.pause("Sun, 06 Nov 1994 08:49:37 GMT", at: 784_111_778) == 0)
    for field in ["", "-1", "soon", "99999999999", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 99 Nov 1994 08:49:37 GMT"] {
      #expect(Self.pause(field) == nil, "\(field)")
    }
  }

  private static func pause(_ field: String, at now: Int64 = 0) -> Int64? {
    guard case .failed(_, let retryAfter) = WebhookAnswer.outcome(503, retryAfter: field, at: now) else { return nil }
    return retryAfter
  }
}
