import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// Signature Version 4 by the figures of AWS's published test suite.
@Suite struct RequestSignerTests {
  private static let keys = RequestSigner.Keys(
    accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
  private static let host: RequestSigner.Field = ("Host", "example.amazonaws.com")
  /// 2015-08-30T12:36:00Z.
  private static let moment: Int64 = 1_440_938_160_000

  private struct Row {
    var name: String
    var method = "GET"
    var target = "/"
    var fields: [RequestSigner.Field] = []
    var body = ""
    var signed: String
    var signature: String
  }

  private static let rows = [
    Row(
      name: "get-vanilla", signed: "host;x-amz-date",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Row(
      name: "post-vanilla", method: "POST", signed: "host;x-amz-date",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    Row(
      name: "get-header-key-duplicate",
      fields: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
      signed: "host;my-header1;x-amz-date",
      signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
    Row(
      name: "get-header-value-trim", fields: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
      signed: "host;my-header1;my-header2;x-amz-date",
      signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    Row(
      name: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1", signed: "host;x-amz-date",
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    Row(
      name: "post-x-www-form-urlencoded", method: "POST",
      fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
      signed: "content-type;host;x-amz-date",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
  ]

  @Test func `the published requests have the published signatures`() {
    let signer = RequestSigner(Self.keys, region: "us-east-1", service: "service")
    for row in Self.rows {
      let signed = signer.signed(
        row.method, row.target, [Self.host] + row.fields, body: Array(row.body.utf8), at: Self.moment)
      #expect(signed.count == row.fields.count + 3 && signed[row.fields.count + 1].name == "x-amz-date")
      #expect(signed[row.fields.count + 1].value == "20150830T123600Z")
      #expect(
        signed.last?.value
          == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
          + "SignedHeaders=\(row.signed), Signature=\(row.signature)", "\(row.name)")
    }
  }

  @Test func `lent keys are signed with their token`() {
    var keys = Self.keys
    keys.sessionToken =
      "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwt"
      + "hAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHN"
      + "VXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLx"
      + "BA=="
    let signed = RequestSigner(keys, region: "us-east-1", service: "service")
      .signed("POST", "/", [Self.host], body: [], at: Self.moment)
    #expect(signed.map(\.name) == ["Host", "x-amz-date", "x-amz-security-token", "Authorization"])
    #expect(
      signed.last?.value.hasSuffix("Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead") == true
    )
  }

  @Test(
    arguments: [
      (0, "19700101T000000Z"), (-1, "19691231T235959Z"), (951_782_399_999, "20000228T235959Z"),
      (951_782_400_000, "20000229T000000Z"), (1_709_164_800_000, "20240229T000000Z"),
      (1_709_251_199_999, "20240229T235959Z"), (4_107_542_399_999, "21000228T235959Z"),
      (4_107_542_400_000, "21000301T000000Z"), (1_767_225_600_000, "20260101T000000Z"),
    ] as [(Int64, String)])
  func `moments are written in UTC`(milliseconds: Int64, text: String) {
    #expect(SigningMoment(milliseconds: milliseconds).text == text)
    #expect(text.hasPrefix(SigningMoment(milliseconds: milliseconds).day + "T"))
  }
}
