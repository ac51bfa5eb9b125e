import MartletJSON
import MartletModels
import Testing

@Suite struct ScalarTests {
  @Test(arguments: [
    (ScalarKind.awsDate, "2013-01-01", true), (.awsDate, "2016-02-29+05:30", true), (.awsDate, "2013-02-29", false),
    (.awsDate, "1900-02-29", false), (.awsDate, "2013-1-1", false), (.awsDate, "2013-01-01T", false),
    (.awsTime, "12:30", true), (.awsTime, "12:30:24.500-07:00", true), (.awsTime, "24:00", false),
    (.awsTime, "12:30:24.", false), (.awsDateTime, "2013-01-01T10:15:00Z", true),
    (.awsDateTime, "2013-01-01T10:15+05:30:12", true), (.awsDateTime, "2013-01-01T10:15:00", false),
    (.awsDateTime, "2013-01-01 10:15:00Z", false), (.awsEmail, "a.b+c@example.com", true), (.awsEmail, "a@b@c", false),
    (.awsEmail, ".a@example.com", false), (.awsEmail, "a@-x.example", false),
    (.awsURL, "https://example.com/a?b", true),
    (.awsURL, "mailto:a@example.com", true), (.awsURL, "example.com/a", false), (.awsURL, "http:// a", false),
    (.awsURL, "http://", false), (.awsPhone, "+49 30 1234567", true), (.awsPhone, "(212) 555-0100", true),
    (.awsPhone, "555-0100", false), (.awsPhone, "+1 212 CALL", false), (.awsIPAddress, "10.0.0.1", true),
    (.awsIPAddress, "10.0.0.0/8", true), (.awsIPAddress, "10.0.0.0/33", false), (.awsIPAddress, "10.0.0.256", false),
    (.awsIPAddress, "010.0.0.1", false), (.awsIPAddress, "::", true), (.awsIPAddress, "2001:db8::1/32", true),
    (.awsIPAddress, "1:2:3:4:5:6:7:8", true), (.awsIPAddress, "1:2:3:4:5:6:7", false),
    (.awsIPAddress, "::ffff:10.0.0.1", true), (.awsIPAddress, "1::2::3", false), (.awsIPAddress, ":1::2", false),
    (.awsIPAddress, "1::2:", false), (.awsIPAddress, "::1/129", false), (.awsJSON, #"{"a":[1]}"#, true),
    (.awsJSON, "{a:1}", false), (.id, "", true), (.string, "\u{1F600}", true),
  ])
  func `a text scalar takes what its specification says`(kind: ScalarKind, text: String, isValid: Bool) {
    #expect(kind.accepts(.string(text)) == isValid, "\(kind.rawValue) \(text)")
  }

  @Test func `numbers have their ranges and kinds do not mix`() {
    #expect(ScalarKind.int.accepts(2_147_483_647) && ScalarKind.int.accepts(-2_147_483_648))
    #expect(!ScalarKind.int.accepts(2_147_483_648) && !ScalarKind.int.accepts(1.0) && !ScalarKind.int.accepts("1"))
    #expect(ScalarKind.float.accepts(1) && ScalarKind.float.accepts(1.5) && !ScalarKind.float.accepts("1.5"))
    #expect(ScalarKind.awsTimestamp.accepts(4_000_000_000) && !ScalarKind.awsTimestamp.accepts("0"))
    #expect(ScalarKind.boolean.accepts(true) && !ScalarKind.boolean.accepts(1))
    for kind in ScalarKind.allCases { #expect(!kind.accepts([]) && !kind.accepts([:])) }
  }
}
