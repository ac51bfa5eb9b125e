/// Why bytes are not JSON, or not JSON within the limits, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule that was broken.
  public enum Code: String, Sendable {
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte that cannot stand where it stands.
    case unexpectedByte
    /// Something follows the value.
    case trailingBytes
    /// A number that is not written as JSON writes numbers.
    case malformedNumber
    /// A number beyond what a double holds.
    case numberOutOfRange
    /// A backslash that does not begin an escape sequence.
    case malformedEscape
    /// Half of a surrogate pair alone.
    case loneSurrogate
    /// A control character that is not escaped.
    case controlCharacter
    /// Bytes that are not UTF-8.
    case malformedUTF8
    /// A second member of one name, where `JSONLimits` refuses it.
    case duplicateKey
    /// More levels than `JSONLimits.depth`.
    case tooDeep
    /// More bytes than `JSONLimits.bytes`.
    case tooLarge
  }

  /// The rule that was broken.
  public let code: Code
  /// Byte offset of the place, from 0.
  public let offset: Int

  /// An error at byte `offset`.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  /// One sentence for people.
  public var description: String {
    let what =
      switch code {
      case .unexpectedEnd: "the text ends inside a value"
      case .unexpectedByte: "this byte cannot stand here"
      case .trailingBytes: "something follows the value"
      case .malformedNumber: "this is not a number"
      case .numberOutOfRange: "this number is beyond what a double holds"
      case .malformedEscape: "this is not an escape"
      case .loneSurrogate: "half of a surrogate pair stands alone"
      case .controlCharacter: "a control character must be escaped"
      case .malformedUTF8: "the bytes are not UTF-8"
      case .duplicateKey: "this member occurs twice"
      case .tooDeep: "values are nested too deeply"
      case .tooLarge: "the text is too large"
      }
    return "JSON, byte \(offset): \(what)"
  }
}

/// Bounds on what a parse accepts.
public struct JSONLimits: Sendable {
  /// What to do with a second member of one name.
  public enum DuplicateKeys: Sendable {
    /// An error: two readers could otherwise see two different documents.
    case reject
    /// The last one counts, as in ECMAScript.
    case keepLast
    /// The first one counts.
    case keepFirst
  }

  /// Nested arrays and objects. 128 is far beyond written data and far below any stack. Above `deepest` it counts as
  /// `deepest`.
  public var depth = 128
  /// Values are walked recursively once they are read, also on threads with half a megabyte of stack; no setting may
  /// let a text overflow it.
  package static let deepest = 512
  /// Bytes of the whole text; 4 GiB is what offsets can name, 16 MiB what a request may reasonably be.
  public var bytes = 16 * 1_048_576
  /// Two readers of one document must not see different values, hence an error by default.
  public var duplicateKeys = DuplicateKeys.reject

  /// The defaults.
  public init() {}

  /// The bounds of a text that is held in memory already: its length was bounded when it arrived, by a setting that may
  /// be above the default here.
  package static func held(_ text: [UInt8]) -> JSONLimits {
    var limits = JSONLimits()
    limits.bytes = text.count
    return limits
  }
}
