/// The signature that a request carries, read and checked as AWS does (Signature Version 4, in the `Authorization`
/// field). A pure function of its arguments.
package struct RequestSignature: Sendable, Hashable {
  /// Why a signature is not accepted; for operators.
  package enum Failure: String, Error, Sendable, Hashable {
    /// The field is not of the form `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`, or one part is
    /// missing, repeated or too long.
    case malformed = "signature-malformed"
    /// The date is missing or malformed, or another day than the scope's.
    case date = "signature-date"
    /// `host` or the date is not among what is signed, or a field that is signed is not there.
    case unsigned = "signature-unsigned"
    /// The clock of the signer differs by more than is allowed.
    case skewed = "signature-skewed"
    /// The signature is not that of the key over this request.
    case wrong = "signature-wrong"
  }

  package let accessKeyID: String
  package let region: String
  package let service: String
  private let day: String
  private let signedNames: [String]
  private let signature: [UInt8]

  /// Whether the value of an `Authorization` field is a signature rather than a token.
  package static func isSignature(_ authorization: String) -> Bool {
    authorization.utf8.starts(with: "AWS4-HMAC-SHA256".utf8)
  }

  /// Reads an `Authorization` field.
  ///
  /// - Parameters:
  ///   - bytes: its length at most.
  ///   - fields: how many fields it may name at most.
  package init(_ authorization: String, bytes: Int = 4_096, fields: Int = 64) throws(Failure) {
    let text = Array(authorization.utf8)
    let algorithm = Array("AWS4-HMAC-SHA256 ".utf8)
    guard text.count <= bytes, text.starts(with: algorithm) else { throw .malformed }
    var parts: [String: String] = [:]
    for part in text[algorithm.count...].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let part = HTTPSyntax.trimmed(part)
      guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { throw .malformed }
      let name = String(decoding: part[..<sign], as: UTF8.self)
      guard parts.updateValue(String(decoding: part[(sign + 1)...], as: UTF8.self), forKey: name) == nil else {
        throw .malformed
      }
    }
    guard parts.count == 3, let credential = parts["Credential"], let names = parts["SignedHeaders"],
      let signature = parts["Signature"]
    else { throw .malformed }
    let scope = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard scope.count == 5, scope[4] == "aws4_request", scope.allSatisfy({ !$0.isEmpty }) else { throw .malformed }
    (accessKeyID, day, region, service) = (scope[0], scope[1], scope[2], scope[3])
    signedNames = names.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    guard signedNames.count <= fields, !signedNames.contains(""),
      zip(signedNames, signedNames.dropFirst()).allSatisfy({ $0.utf8.lexicographicallyPrecedes($1.utf8) }),
      signedNames.allSatisfy({ $0.utf8.allSatisfy { HTTPSyntax.lowercased($0) == $0 } })
    else { throw .malformed }
    guard signature.utf8.count == 64 else { throw .malformed }
    self.signature = Array(signature.utf8)
  }

  /// Checks the signature over a request.
  ///
  /// - Parameters:
  ///   - keys: Those of `accessKeyID`. With a session token the request must carry and sign the same.
  ///   - fields: All fields of the request; what is not signed is not looked at.
  ///   - milliseconds: The calendar's, since 1970.
  ///   - skew: How far the signer's clock may differ. AWS allows five minutes.
  package func check(
    _ keys: RequestSigner.Keys, _ method: String, _ target: String, _ fields: [RequestSigner.Field], body: [UInt8],
    at milliseconds: Int64, skew: Int64 = 300_000
  ) throws(Failure) {
    let dates = fields.filter { Self.lower($0.name) == "x-amz-date" }
    guard dates.count == 1, let date = dates.first?.value, let signed = SignedDate(date), signed.moment.day == day
    else { throw .date }
    guard signedNames.contains("host"), signedNames.contains("x-amz-date") else { throw .unsigned }
    guard abs(signed.milliseconds - milliseconds) <= skew else { throw .skewed }
    let tokens = fields.filter { Self.lower($0.name) == "x-amz-security-token" }.map(\.value)
    guard tokens.count <= 1, Self.isEqual(tokens.first ?? "", keys.sessionToken ?? "") else { throw .wrong }
    if !tokens.isEmpty, !signedNames.contains("x-amz-security-token") { throw .unsigned }
    let named = fields.filter { signedNames.contains(Self.lower($0.name)) }
    guard Set(named.map { Self.lower($0.name) }).count == signedNames.count else { throw .unsigned }
    let expected = RequestSigner(keys, region: region, service: service)
      .authorization(method, target, named, body: body, at: signed.moment)
    // The signature is the last part.
    guard Self.isEqual(Array(expected.utf8.suffix(64)), signature) else { throw .wrong }
  }

  private static func lower(_ name: String) -> String {
    String(decoding: name.utf8.map(HTTPSyntax.lowercased), as: UTF8.self)
  }

  private static func isEqual(_ left: String, _ right: String) -> Bool { isEqual(Array(left.utf8), Array(right.utf8)) }

  /// Takes the same time wherever the first difference is.
  private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    var difference: UInt8 = left.count == right.count ? 0 : 1
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }
}

/// A date as a signer wrote it: `20150830T123600Z`.
private struct SignedDate {
  let moment: SigningMoment
  /// Since 1970.
  let milliseconds: Int64

  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? { HTTPSyntax.decimal(bytes[range]).map { Int64($0) } }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
      let minute = number(11..<13), let second = number(13..<15), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    // Counted from 1 March of the year 0, so that a leap day is the last of its year.
    let shifted = month > 2 ? year : year - 1
    let inYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + inYear - 719_468
    milliseconds = (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000
    moment = SigningMoment(milliseconds: milliseconds)
    // A day that the month does not have is written otherwise.
    guard moment.text == text else { return nil }
  }
}
