/// Strings: scanning, unescaping, escaping.
enum JSONText {
  /// Finds the closing quote from `start`, checking escapes, control characters and UTF-8 on the way.
  static func scan(_ bytes: [UInt8], from start: Int) throws(JSONError) -> (end: Int, hasEscapes: Bool) {
    var at = start
    var hasEscapes = false
    while at < bytes.count {
      at = skipPlain(bytes, from: at)
      guard at < bytes.count else { break }
      let byte = bytes[at]
      switch byte {
      case UInt8(ascii: "\""): return (at, hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        at = try escape(bytes, at: at)
      case 0..<0x20: throw JSONError(.controlCharacter, at: at)
      case 0x20..<0x80: at += 1
      default: at += try sequence(bytes, at: at)
      }
    }
    throw JSONError(.unexpectedEnd, at: at)
  }

  /// Skips characters that stand for themselves, eight at a time: ASCII but control characters, quote and backslash.
  /// A borrow can mark a byte too many, but only above a right mark, so that the lowest mark is the place to look at.
  private static func skipPlain(_ bytes: [UInt8], from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    // Every load lies inside the array: `at + 8 <= count`.
    return unsafe bytes.withUnsafeBytes { raw in
      var at = start
      while at + 8 <= raw.count {
        let word = UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let isControl = (word &- ones &* 0x20) & ~word
        let isQuote = (quote &- ones) & ~quote
        let isBackslash = (backslash &- ones) & ~backslash
        let special = (isControl | isQuote | isBackslash | word) & tops
        if special != 0 { return at + special.trailingZeroBitCount / 8 }
        at += 8
      }
      return at
    }
  }

  /// Length of the well-formed UTF-8 sequence at `at` (Unicode, table 3-7).
  private static func sequence(_ bytes: [UInt8], at: Int) throws(JSONError) -> Int {
    let first = bytes[at]
    let (length, second): (Int, ClosedRange<UInt8>)
    switch first {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw JSONError(.malformedUTF8, at: at)
    }
    guard at + length <= bytes.count, second.contains(bytes[at + 1]) else { throw JSONError(.malformedUTF8, at: at) }
    for index in at + 2..<max(at + 2, at + length) where bytes[index] & 0xC0 != 0x80 {
      throw JSONError(.malformedUTF8, at: at)
    }
    return length
  }

  /// Checks the escape at `at` and returns the index after it.
  private static func escape(_ bytes: [UInt8], at: Int) throws(JSONError) -> Int {
    guard at + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    switch bytes[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return at + 2
    case UInt8(ascii: "u"):
      guard let unit = unit(bytes[...], at: at) else { throw JSONError(.malformedEscape, at: at) }
      if (0xDC00...0xDFFF).contains(unit) { throw JSONError(.loneSurrogate, at: at) }
      guard (0xD800...0xDBFF).contains(unit) else { return at + 6 }
      guard let low = Self.unit(bytes[...], at: at + 6), (0xDC00...0xDFFF).contains(low) else {
        throw JSONError(.loneSurrogate, at: at)
      }
      return at + 12
    default:
      throw JSONError(.malformedEscape, at: at)
    }
  }

  /// The UTF-16 unit of a `\uXXXX` at `at`.
  private static func unit(_ bytes: ArraySlice<UInt8>, at: Int) -> UInt32? {
    guard at + 6 <= bytes.endIndex, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt32 = 0
    for index in at + 2..<at + 6 {
      guard let digit = hexadecimal(bytes[index]) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }

  /// The bytes a checked string means.
  static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(content.count)
    var at = content.startIndex
    while at < content.endIndex {
      let byte = content[at]
      guard byte == UInt8(ascii: "\\"), at + 1 < content.endIndex else {
        result.append(byte)
        at += 1
        continue
      }
      switch content[at + 1] {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var code = unit(content, at: at) ?? 0xFFFD
        if (0xD800...0xDBFF).contains(code), let low = unit(content, at: at + 6) {
          code = 0x10000 + (code - 0xD800) << 10 + (low &- 0xDC00)
          at += 6
        }
        if let scalar = Unicode.Scalar(code) { result.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? []) }
        at += 4
      case let other: result.append(other)
      }
      at += 2
    }
    return result
  }

  /// Appends `text` between quotes, with what must be escaped escaped.
  static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = text
    // What needs no escape is copied in one piece: nearly always the whole text. The buffer lives during the call.
    text.withUTF8 { bytes in
      var copied = 0
      for index in 0..<bytes.count {
        let byte = unsafe bytes[index]
        if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
        unsafe output.append(
          contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[copied..<index]))
        appendEscape(byte, to: &output)
        copied = index + 1
      }
      unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[copied...]))
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0..<0x20:
      output.append(contentsOf: "u00".utf8)
      for digit in [byte >> 4, byte & 15] {
        output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    default: output.append(byte)
    }
  }
}
