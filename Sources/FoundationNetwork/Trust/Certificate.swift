internal import Foundation

/// Reads as much of X.509 as pinning and private authorities need.
package enum Certificate {
  /// The certificates of a PEM file, in DER. A block that is not base64 is left out.
  package static func all(inPEM text: String) -> [[UInt8]] {
    text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { block in
      guard let end = block.range(of: "-----END CERTIFICATE-----") else { return nil }
      let base64 = block[..<end.lowerBound].filter { !$0.isWhitespace }
      return Data(base64Encoded: String(base64)).map { Array($0) }
    }
  }

  /// The SubjectPublicKeyInfo of a certificate, tag and length included: what a pin is the digest of.
  /// - Returns: Nil for bytes that are not a certificate.
  package static func publicKeyInfo(in certificate: [UInt8]) -> [UInt8]? {
    var outer = DER(certificate[...])
    guard let whole = outer.next(), whole.tag == DER.sequence else { return nil }
    var parts = DER(whole.content)
    guard let signed = parts.next(), signed.tag == DER.sequence else { return nil }
    var fields = DER(signed.content)
    guard var field = fields.next() else { return nil }
    // The version has a tag of its own, and version 1 leaves it out.
    if field.tag == DER.version {
      guard let serial = fields.next() else { return nil }
      field = serial
    }
    // After the serial number: algorithm, issuer, validity, subject, and the key.
    for _ in 0..<5 {
      guard let next = fields.next() else { return nil }
      field = next
    }
    return field.tag == DER.sequence ? Array(field.whole) : nil
  }

  /// Elements of DER one after the other.
  private struct DER {
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xA0
    /// Bytes of a length beyond which no certificate is: 16 MiB.
    private static let lengthBytes = 3

    struct Element {
      var tag: UInt8
      var content: ArraySlice<UInt8>
      /// With tag and length.
      var whole: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next element; nil at the end, and where the bytes are not DER.
    mutating func next() -> Element? {
      let all = rest
      guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
      var length = Int(first)
      if first >= 0x80 {
        let count = Int(first & 0x7F)
        guard count > 0, count <= Self.lengthBytes, rest.count >= count else { return nil }
        length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest.removeFirst(count)
      }
      guard rest.count >= length else { return nil }
      let content = rest.prefix(length)
      rest.removeFirst(length)
      return Element(tag: tag, content: content, whole: all[all.startIndex..<content.endIndex])
    }
  }
}
