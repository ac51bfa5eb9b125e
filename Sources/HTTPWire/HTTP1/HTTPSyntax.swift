/// The small grammar of RFC 9110 and 9112, on bytes.
package enum HTTPSyntax {
  /// tchar (RFC 9110 section 5.6.2).
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  package static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  /// Visible characters, space, tab and bytes above ASCII: everything but control characters.
  package static func isFieldValue(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy(isFieldByte)
  }

  /// A byte that a field's value may have.
  package static func isFieldByte(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }

  /// ASCII lower case of one byte.
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }

  /// Equality without regard to ASCII case.
  package static func equals(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { buffer in
      var index = 0
      for byte in bytes {
        // In range: the counts are equal.
        guard unsafe lowercased(byte) == lowercased(buffer[index]) else { return false }
        index += 1
      }
      return true
    }
  }

  /// Equality without regard to ASCII case.
  package static func equals(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
  }

  /// Without spaces and tabs at both ends.
  package static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var part = bytes
    while let first = part.first, first == 0x20 || first == 0x09 { part = part.dropFirst() }
    while let last = part.last, last == 0x20 || last == 0x09 { part = part.dropLast() }
    return part
  }

  /// The trimmed parts between `separator`s that stand outside quoted strings.
  package static func split(_ bytes: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    var quoted = false
    var escaped = false
    for index in bytes.indices {
      let byte = bytes[index]
      if escaped {
        escaped = false
      } else if quoted, byte == 0x5C {
        escaped = true
      } else if byte == 0x22 {
        quoted.toggle()
      } else if byte == separator, !quoted {
        parts.append(trimmed(bytes[start..<index]))
        start = index + 1
      }
    }
    parts.append(trimmed(bytes[start...]))
    return parts
  }

  /// A token, or the content of a quoted string with its escapes resolved; nil when it is neither.
  package static func parameterValue(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard bytes.first == 0x22 else { return isToken(bytes) ? [UInt8](bytes) : nil }
    guard bytes.count >= 2, bytes.last == 0x22 else { return nil }
    var value: [UInt8] = []
    var escaped = false
    for byte in bytes.dropFirst().dropLast() {
      if escaped {
        escaped = false
        value.append(byte)
      } else if byte == 0x5C {
        escaped = true
      } else if byte == 0x22 {
        return nil
      } else {
        value.append(byte)
      }
    }
    return escaped ? nil : value
  }

  /// A number of decimal digits only; nil for anything else or when it does not fit.
  package static func decimal(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard !bytes.isEmpty else { return nil }
    var value = 0
    for byte in bytes {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carried) = product.addingReportingOverflow(Int(byte - 0x30))
      if overflow || carried { return nil }
      value = sum
    }
    return value
  }
}
