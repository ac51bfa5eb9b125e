internal import Foundation
package import MartletJSON

extension JSONTypeTable {
  /// How Foundation's types stand in variables and results: a `Date` as ISO 8601 (AWSDateTime) with milliseconds,
  /// `Data` as base64, a `URL` as its text, a `Decimal` as a number where a double says it exactly and as text
  /// elsewhere.
  ///
  /// Dates are also read from AWSDate (midnight UTC) and AWSTimestamp (seconds since 1970).
  package static let foundation: JSONTypeTable = {
    var table = JSONTypeTable()
    table.register(Date.self) { value in
      if let seconds = value.int { return Date(timeIntervalSince1970: Double(seconds)) }
      guard let text = value.string, let seconds = DateText.seconds(text) else {
        throw GraphQLClientError(.decodingFailed, "\(value) is not a date and time of ISO 8601")
      }
      return Date(timeIntervalSince1970: seconds)
    } encode: { date in
      guard let text = DateText.text(date.timeIntervalSince1970) else {
        throw GraphQLClientError(.invalidRequest, "a date beyond the years 0 to 9999")
      }
      return .string(text)
    }
    table.register(Data.self) { value in
      guard let text = value.string, let data = Data(base64Encoded: text) else {
        throw GraphQLClientError(.decodingFailed, "\(value) is not base64")
      }
      return data
    } encode: {
      .string($0.base64EncodedString())
    }
    table.register(URL.self) { value in
      guard let text = value.string, let url = URL(string: text) else {
        throw GraphQLClientError(.decodingFailed, "\(value) is not a URL")
      }
      return url
    } encode: {
      .string($0.absoluteString)
    }
    table.register(Decimal.self) { value in
      guard let decimal = decimal(value) else {
        throw GraphQLClientError(.decodingFailed, "\(value) is not a decimal number")
      }
      return decimal
    } encode: { decimal in
      let text = "\(decimal)"
      if let integer = Int64(text) { return .int(integer) }
      if let double = Double(text), Decimal(string: "\(double)") == decimal { return .double(double) }
      return .string(text)
    }
    return table
  }()

  private static func decimal(_ value: JSONValue) -> Decimal? {
    if let integer = value.int { return Decimal(integer) }
    if let text = value.string {
      // Decimal(string:) reads as far as it understands; a whole number is meant.
      let digits = text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0)
      }
      return digits && !text.isEmpty ? Decimal(string: text) : nil
    }
    // The shortest text that reads back as the same double, not the double's 50 binary digits.
    return value.double.flatMap { Decimal(string: "\($0)") }
  }
}
