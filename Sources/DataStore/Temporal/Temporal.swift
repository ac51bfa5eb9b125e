public import MartletGraphQLClient

/// Dates and times of the ISO 8601 calendar as models hold them: text, with the offset that they were given with.
///
/// Values compare by the moment they mean, to the millisecond, in memory as in queries, sorts and indexes. Keys are
/// texts: the same moment with another offset is another key.
public enum Temporal {
  /// A text that is not a date or time.
  public struct FormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public var text: String
    /// What it should have been.
    public var expected: String

    /// Both, in one line.
    public var description: String { "\"\(text)\" is not \(expected)" }
  }
}

/// A value of `Temporal`, which has one text and one place on a scale of milliseconds.
public protocol TemporalValue: Codable, Sendable, Hashable, Comparable, CustomStringConvertible, QueryOperand {
  /// Reads the text.
  /// - Throws: `Temporal.FormatError`.
  init(iso8601 text: String) throws(Temporal.FormatError)
  /// The fullest form of the text.
  var iso8601: String { get }
  /// The moment in milliseconds, in UTC: since 1970 for dates, since midnight for times.
  var milliseconds: Int64 { get }
}

extension TemporalValue {
  /// Whether both mean the same moment.
  public static func == (left: Self, right: Self) -> Bool { left.milliseconds == right.milliseconds }
  /// Whether the left moment is earlier.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
  /// The moment is what is hashed.
  public func hash(into hasher: inout Hasher) { hasher.combine(milliseconds) }
  /// The fullest form of the text.
  public var description: String { iso8601 }
  /// The fullest form of the text.
  public var queryValue: JSONValue { .string(iso8601) }

  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      try self.init(iso8601: text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
  }

  /// Writes the fullest form of the text.
  ///
  /// - Throws: `EncodingError` for a date beyond the years 0 to 9999, whose text cannot be read again.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = iso8601
    guard text.utf8.prefix(while: { (0x30...0x39).contains($0) }).count <= 4, !text.hasPrefix("-") else {
      throw EncodingError.invalidValue(
        text, .init(codingPath: encoder.codingPath, debugDescription: "a date beyond the years 0 to 9999"))
    }
    try container.encode(text)
  }
}
