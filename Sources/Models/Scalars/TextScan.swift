/// Reads dates and times from ASCII text, a field at a time.
struct TextScan {
  private let bytes: [UInt8]
  private var at = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  var isAtEnd: Bool { at == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard at < bytes.count, UInt32(bytes[at]) == character.value else { return false }
    at += 1
    return true
  }

  /// Exactly `count` digits.
  private mutating func number(_ count: Int) -> Int? {
    guard at + count <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[at..<at + count] {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    at += count
    return value
  }

  /// `YYYY-MM-DD`, a day that exists.
  mutating func date() -> Bool {
    guard let year = number(4), take("-"), let month = number(2), (1...12).contains(month), take("-"),
      let day = number(2), day >= 1
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return day <= lengths[month - 1]
  }

  /// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.s…` with one to nine digits of fraction.
  mutating func time() -> Bool {
    guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60 else { return false }
    guard take(":") else { return true }
    guard let second = number(2), second < 60 else { return false }
    guard take(".") else { return true }
    let start = at
    while at < bytes.count, (0x30...0x39).contains(bytes[at]) { at += 1 }
    return (1...9).contains(at - start)
  }

  /// `Z` or `±hh:mm` or `±hh:mm:ss`; nothing at all unless `required`.
  mutating func offset(required: Bool = false) -> Bool {
    if isAtEnd { return !required }
    if take("Z") { return true }
    guard take("+") || take("-") else { return false }
    guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60 else { return false }
    guard take(":") else { return true }
    return number(2).map { $0 < 60 } ?? false
  }
}
