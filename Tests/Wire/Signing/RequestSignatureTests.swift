import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// Signatures of requests as a server checks them, against what the signer writes.
@Suite struct RequestSignatureTests {
  private static let keys = RequestSigner.Keys(accessKeyID: "AKID", secretAccessKey: "secret")
  /// 2015-08-30T12:36:00Z.
  private static let moment: Int64 = 1_440_938_160_000
  private static let body = Array(#"{"query":"{ a }"}"#.utf8)

  private static func fields(_ keys: RequestSigner.Keys = keys, at moment: Int64 = moment) -> [RequestSigner.Field] {
    RequestSigner(keys, region: "eu-central-1", service: "appsync").signed(
      "POST", "/graphql", [(name: "Host", value: "api.example"), (name: "accept", value: "a, b")], body: body,
      at: moment)
  }

  private static func check(
    _ fields: [RequestSigner.Field], _ keys: RequestSigner.Keys = keys, _ method: String = "POST",
    _ target: String = "/graphql", body: [UInt8] = body, at now: Int64 = moment
  ) -> RequestSignature.Failure? {
    do throws(RequestSignature.Failure) {
      let text = fields.first { $0.name == "Authorization" }?.value ?? ""
      let signature = try RequestSignature(text)
      #expect(signature.accessKeyID == "AKID" && signature.region == "eu-central-1" && signature.service == "appsync")
      try signature.check(keys, method, target, fields, body: body, at: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func `what the signer signs is accepted, also behind proxies that add fields`() {
    #expect(Self.check(Self.fields()) == nil)
    #expect(Self.check(Self.fields() + [("X-Forwarded-For", "1.2.3.4"), ("Via", "1.1 a")]) == nil)
    #expect(Self.check(Self.fields(), at: Self.moment + 299_999) == nil)
    #expect(Self.check(Self.fields(), at: Self.moment - 299_999) == nil)
    let lent = RequestSigner.Keys(accessKeyID: "AKID", secretAccessKey: "secret", sessionToken: "lent")
    #expect(Self.check(Self.fields(lent), lent) == nil)
  }

  @Test func `another request, key or time is refused with its reason`() {
    let other = RequestSigner.Keys(accessKeyID: "AKID", secretAccessKey: "other")
    let lent = RequestSigner.Keys(accessKeyID: "AKID", secretAccessKey: "secret", sessionToken: "lent")
    #expect(Self.check(Self.fields(), other) == .wrong)
    #expect(Self.check(Self.fields(), Self.keys, "GET") == .wrong)
    #expect(Self.check(Self.fields(), Self.keys, "POST", "/graphql/connect") == .wrong)
    #expect(Self.check(Self.fields(), Self.keys, "POST", "/graphql?a=1") == .wrong)
    #expect(Self.check(Self.fields(), body: Array("{}".utf8)) == .wrong)
    #expect(Self.check(Self.fields(), at: Self.moment + 300_001) == .skewed)
    #expect(Self.check(Self.fields(), at: Self.moment - 300_001) == .skewed)
    #expect(Self.check(Self.fields(), lent) == .wrong, "the session token is missing")
    #expect(Self.check(Self.fields(lent), Self.keys) == .wrong, "a session token that is not configured")
    func changed(_ name: String, _ value: String?) -> [RequestSigner.Field] {
      Self.fields().filter { $0.name != name } + (value.map { [(name: name, value: $0)] } ?? [])
    }
    #expect(Self.check(changed("Host", "other.example")) == .wrong)
    #expect(Self.check(changed("Host", nil)) == .unsigned)
    #expect(Self.check(changed("accept", nil)) == .unsigned)
    #expect(Self.check(Self.fields() + [("accept", "c")]) == .wrong, "a second field of a signed name")
    for date in [nil, "", "20150830T123600", "20150831T123600Z", "20150230T123600Z", "2015-08-30T12:36"] {
      #expect(Self.check(changed("x-amz-date", date)) == .date, "\(date ?? "none")")
    }
    #expect(Self.check(Self.fields() + [("X-Amz-Date", "20150830T123600Z")]) == .date, "two dates")
  }

  @Test func `a signature that leaves out host or date is not one over the request`() throws {
    let whole = try #require(Self.fields().first { $0.name == "Authorization" }?.value)
    for names in ["accept;x-amz-date", "accept;host", "host"] {
      let text = whole.replacing("accept;host;x-amz-date", with: names)
      #expect(Self.check(Self.fields().filter { $0.name != "Authorization" } + [("Authorization", text)]) == .unsigned)
    }
  }

  @Test(arguments: [
    "", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a", "AWS4-HMAC-SHA512 Credential=a/b/c/d/aws4_request",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=00",
    "AWS4-HMAC-SHA256 Credential=a/b/c/aws4_request, SignedHeaders=host, Signature=\(String(repeating: "0", count: 64))",
    "AWS4-HMAC-SHA256 Credential=/b/c/d/aws4_request, SignedHeaders=host, Signature=\(String(repeating: "0", count: 64))",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host;host, Signature=\(String(repeating: "0", count: 64))",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=x;host, Signature=\(String(repeating: "0", count: 64))",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=Host, Signature=\(String(repeating: "0", count: 64))",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=\(String(repeating: "0", count: 64)), Signature=a",
  ])
  func `malformed signatures are refused`(text: String) {
    #expect(throws: RequestSignature.Failure.malformed) { try RequestSignature(text) }
  }
}
