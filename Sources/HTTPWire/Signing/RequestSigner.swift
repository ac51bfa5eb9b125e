internal import MartletVocabulary

/// AWS Signature Version 4: authenticates the sender of a request by a keyed digest of it. A pure function of its
/// arguments; nothing here reads a clock.
package struct RequestSigner: Sendable, Hashable {
  /// Keys by which AWS identifies the signer.
  package struct Keys: Sendable, Hashable {
    package var accessKeyID: String
    package var secretAccessKey: String
    /// With keys that are lent for a time.
    package var sessionToken: String?

    package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
      self.accessKeyID = accessKeyID
      self.secretAccessKey = secretAccessKey
      self.sessionToken = sessionToken
    }
  }

  package typealias Field = (name: String, value: String)

  package var keys: Keys
  package var region: String
  package var service: String

  package init(_ keys: Keys, region: String, service: String) {
    self.keys = keys
    self.region = region
    self.service = service
  }

  /// The fields of a request with what signing adds: `x-amz-date`, `x-amz-security-token` when the keys are lent, and
  /// `Authorization`. Every field given is signed, and has to be sent as it is.
  ///
  /// - Parameters:
  ///   - target: path and query as they stand in the request line.
  ///   - fields: with `host`, and without those that signing adds.
  ///   - milliseconds: the calendar's, since 1970. AWS accepts a few minutes of difference.
  package func signed(
    _ method: String, _ target: String, _ fields: [Field], body: [UInt8], at milliseconds: Int64
  ) -> [Field] {
    let moment = SigningMoment(milliseconds: milliseconds)
    var fields = fields
    fields.append((name: "x-amz-date", value: moment.text))
    if let token = keys.sessionToken { fields.append((name: "x-amz-security-token", value: token)) }
    let authorization = authorization(method, target, fields, body: body, at: moment)
    return fields + [(name: "Authorization", value: authorization)]
  }

  package func authorization(
    _ method: String, _ target: String, _ fields: [Field], body: [UInt8], at moment: SigningMoment
  ) -> String {
    let canonical = Self.canonical(fields)
    let names = canonical.map(\.name).joined(separator: ";")
    let lines = canonical.map { "\($0.name):\($0.value)\n" }.joined()
    let path = target.prefix { $0 != "?" }
    let query = Self.sorted(target[path.endIndex...].dropFirst())
    let request = [method, Self.escaped(path), query, lines, names, Self.hexadecimal(SHA256.digest(body))]
    let digest = SHA256.digest(Array(request.joined(separator: "\n").utf8))
    let scope = "\(moment.day)/\(region)/\(service)/aws4_request"
    let text = ["AWS4-HMAC-SHA256", moment.text, scope, Self.hexadecimal(digest)].joined(separator: "\n")
    let key = [moment.day, region, service, "aws4_request"].reduce(Array("AWS4\(keys.secretAccessKey)".utf8)) {
      SHA256.authentication(of: Array($1.utf8), key: $0)
    }
    let signature = Self.hexadecimal(SHA256.authentication(of: Array(text.utf8), key: key))
    return
      "AWS4-HMAC-SHA256 Credential=\(keys.accessKeyID)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
  }

  /// Names in lower case and in the order of their bytes, values without needless spaces, repeated fields as one.
  private static func canonical(_ fields: [Field]) -> [Field] {
    var values: [String: [String]] = [:]
    for (name, value) in fields {
      let words = value.split(whereSeparator: { $0 == " " || $0 == "\t" || $0.isNewline })
      values[name.lowercased(), default: []].append(words.joined(separator: " "))
    }
    return values.map { (name: $0.key, value: $0.value.joined(separator: ",")) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Every byte but letters, digits, `-._~` and the slash is percent-encoded, those that are so already included.
  private static func escaped(_ path: Substring) -> String {
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "%" + hexadecimal([byte]).uppercased()
      }
    }
    return text
  }

  /// Parameters in the order of their bytes, each with an equals sign.
  private static func sorted(_ query: Substring) -> String {
    query.split(separator: "&").map { $0.contains("=") ? String($0) : "\($0)=" }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// A moment as signatures write it.
package struct SigningMoment: Equatable {
  /// `20150830`.
  package let day: String
  /// `20150830T123600Z`.
  package let text: String

  package init(milliseconds: Int64) {
    let seconds = Self.floor(milliseconds, 1_000).quotient
    let (days, rest) = Self.floor(seconds, 86_400)
    let date = CivilDate(days: days)
    day = Self.padded(date.year, 4) + Self.padded(date.month, 2) + Self.padded(date.day, 2)
    text =
      day + "T" + Self.padded(rest / 3_600, 2) + Self.padded(rest / 60 % 60, 2) + Self.padded(rest % 60, 2) + "Z"
  }

  private static func floor(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
