internal import MartletJSON

extension RequestPayload {
  /// The request as the query of a GET; empty members are left out.
  package var urlQuery: String {
    var pairs: [(String, [UInt8])] = []
    if !query.isEmpty { pairs.append(("query", Array(query.utf8))) }
    if let operationName { pairs.append(("operationName", Array(operationName.utf8))) }
    if !variables.isEmpty { pairs.append(("variables", JSONValue.object(variables).serialized())) }
    if !extensions.isEmpty { pairs.append(("extensions", JSONValue.object(extensions).serialized())) }
    return pairs.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
  }

  /// Percent-encodes everything but the unreserved characters of RFC 3986.
  private static func encoded(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: text.append(byte)
      default: text += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
