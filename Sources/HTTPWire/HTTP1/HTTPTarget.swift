/// Checks of request targets and authorities (RFC 9112 section 3.2).
package enum HTTPTarget {
  /// Visible ASCII without the fragment mark.
  package static func isTarget(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
  }

  /// `host[:port]`: a name, an IPv4 address or a bracketed IPv6 address. No user information.
  package static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let inner = rest[(rest.startIndex + 1)..<end]
      guard !inner.isEmpty, inner.allSatisfy({ isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else { return false }
      rest = rest[(end + 1)...]
    } else {
      let name = rest.prefix { $0 != UInt8(ascii: ":") }
      guard !name.isEmpty, name.allSatisfy(isNameByte) else { return false }
      rest = rest[name.endIndex...]
    }
    guard let colon = rest.first else { return true }
    let port = rest.dropFirst()
    return colon == UInt8(ascii: ":") && port.count <= 5 && port.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  /// The authority of `http://authority/…` or `https://…`; nil for any other form.
  package static func authority(ofAbsolute target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    for scheme: StaticString in ["http://", "https://"]
    where HTTPSyntax.equals(target.prefix(scheme.utf8CodeUnitCount), scheme) {
      return target.dropFirst(scheme.utf8CodeUnitCount).prefix {
        $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
      }
    }
    return nil
  }

  /// Refuses a target that is malformed, does not fit the method, or names another authority than `host`.
  package static func check(_ text: String, method: String, host: ArraySlice<UInt8>?) throws(HTTPFailure) {
    if method == "CONNECT" { throw HTTPFailure(.methodNotServed) }
    if text.utf8.first == UInt8(ascii: "/") { return }
    let target = Array(text.utf8)[...]
    if target.elementsEqual([UInt8(ascii: "*")]), method == "OPTIONS" { return }
    guard let authority = authority(ofAbsolute: target), isAuthority(authority) else { throw HTTPFailure(.target) }
    if let host, !HTTPSyntax.equals(host, authority) { throw HTTPFailure(.authorityMismatch) }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    // unreserved, percent-encoding and sub-delims of RFC 3986, less those that only confuse in a host.
    case 0x2D, 0x2E, 0x5F, 0x7E, 0x25, 0x21, 0x24, 0x26, 0x27, 0x2A, 0x2B, 0x3D: true
    default: false
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
