/// The place of an operation in a trace, as it travels between programs: the `traceparent` of W3C Trace Context.
///
///     TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
public struct TraceContext: Sendable, Hashable, CustomStringConvertible {
  /// The name of the header field, and of the member of `extensions` where there are no header fields.
  public static let name = "traceparent"

  /// The trace: 128 bits, not all of them zero.
  public let high: UInt64
  /// The lower half of the trace.
  public let low: UInt64
  /// The operation within the trace: not zero.
  public let span: UInt64
  /// Whether the caller records the trace.
  public let isSampled: Bool

  /// A place from its numbers.
  /// - Returns: Nil when the trace or the span is zero, which stands for none.
  public init?(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool) {
    guard high | low != 0, span != 0 else { return nil }
    self.high = high
    self.low = low
    self.span = span
    self.isSampled = isSampled
  }

  /// The first place of a new trace.
  package init(using chance: inout some RandomNumberGenerator, isSampled: Bool = true) {
    high = chance.next()
    // One bit that is never zero keeps the trace from being none.
    low = chance.next() | 1
    span = chance.next() | 1
    self.isSampled = isSampled
  }

  /// Reads the text of a `traceparent`. Later versions may add fields; what comes after the flags is ignored then.
  ///
  /// - Returns: Nil for text that is not one. A request with such a field starts a new trace, by the specification.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    // 2 digits of version, 32 of trace, 16 of span and 2 of flags.
    guard bytes.count >= 55, bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"),
      bytes[52] == UInt8(ascii: "-"), let version = Self.number(bytes[0..<2]), version != 0xFF,
      version == 0 ? bytes.count == 55 : (bytes.count == 55 || bytes[55] == UInt8(ascii: "-")),
      let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
      let span = Self.number(bytes[36..<52]), let flags = Self.number(bytes[53..<55])
    else { return nil }
    self.init(high: high, low: low, span: span, isSampled: flags & 1 == 1)
  }

  /// Lower-case digits only, as the specification wants.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  /// The text of its `traceparent`.
  public var description: String {
    "00-\(traceText)-\(Self.hexadecimal(span))-\(isSampled ? "01" : "00")"
  }

  /// The trace in 32 digits.
  package var traceText: String { Self.hexadecimal(high) + Self.hexadecimal(low) }

  package static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// The place of something that this operation does, in the same trace.
  package func child(using chance: inout some RandomNumberGenerator) -> TraceContext {
    TraceContext(child: chance.next() | 1, of: self)
  }

  private init(child span: UInt64, of parent: TraceContext) {
    (high, low, isSampled) = (parent.high, parent.low, parent.isSampled)
    self.span = span
  }
}
