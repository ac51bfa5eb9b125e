/// Numbers: the grammar, and the value with 64-bit integers exact.
enum JSONNumber {
  /// Finds the end of the number at `start`. `isComplex` numbers have a fraction or an exponent.
  static func scan(_ bytes: [UInt8], from start: Int) throws(JSONError) -> (end: Int, isComplex: Bool) {
    var at = start
    var isComplex = false
    func isDigit(_ index: Int) -> Bool { index < bytes.count && (0x30...0x39).contains(bytes[index]) }
    if bytes[at] == UInt8(ascii: "-") { at += 1 }
    guard isDigit(at) else { throw JSONError(.malformedNumber, at: start) }
    if bytes[at] == UInt8(ascii: "0") {
      at += 1
      if isDigit(at) { throw JSONError(.malformedNumber, at: start) }
    }
    while isDigit(at) { at += 1 }
    if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
      isComplex = true
      at += 1
      guard isDigit(at) else { throw JSONError(.malformedNumber, at: start) }
      while isDigit(at) { at += 1 }
    }
    if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
      isComplex = true
      at += 1
      if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
      guard isDigit(at) else { throw JSONError(.malformedNumber, at: start) }
      while isDigit(at) { at += 1 }
    }
    let digits = bytes[start..<at]
    if isComplex || digits.count > 18, value(of: digits, isComplex: isComplex) == nil {
      throw JSONError(.numberOutOfRange, at: start)
    }
    return (at, isComplex)
  }

  /// The value of a scanned number; nil when a double cannot hold it. `-0` is the double that keeps its sign.
  static func value(of digits: ArraySlice<UInt8>, isComplex: Bool) -> JSONValue? {
    if !isComplex {
      if digits.count <= 18, !digits.elementsEqual("-0".utf8) {
        var value: Int64 = 0
        let isNegative = digits.first == UInt8(ascii: "-")
        for byte in isNegative ? digits.dropFirst() : digits { value = value * 10 + Int64(byte - 0x30) }
        return .int(isNegative ? -value : value)
      }
      let text = String(decoding: digits, as: UTF8.self)
      if text == "-0" { return .double(-0.0) }
      if let value = Int64(text) { return .int(value) }
      if let value = UInt64(text) { return .uint(value) }
    }
    guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else { return nil }
    return .double(value)
  }
}
