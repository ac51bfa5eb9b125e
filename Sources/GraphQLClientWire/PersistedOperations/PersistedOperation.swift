package import MartletJSON

/// Automatic persisted operations: `extensions.persistedQuery` names a document by the SHA-256 of its bytes, so that
/// the document itself need not travel again. A server that does not know it says so; the client sends both once.
package struct PersistedOperation: Equatable, Sendable {
  /// 32 bytes.
  package var hash: [UInt8]

  /// - Parameter hash: the SHA-256 of the document.
  package init(hash: [UInt8]) {
    precondition(hash.count == 32, "a SHA-256 has 32 bytes")
    self.hash = hash
  }

  /// Reads `extensions.persistedQuery`; nil without one.
  package init?(extensions: JSONObject) throws(PersistedOperationError) {
    guard let member = extensions["persistedQuery"], !member.isNull else { return nil }
    guard let version = member["version"]?.int, version == 1 else { throw PersistedOperationError.version }
    guard let text = member["sha256Hash"]?.string, let hash = Self.bytes(hexadecimal: text) else {
      throw PersistedOperationError.malformedHash
    }
    self.hash = hash
  }

  /// The member `persistedQuery` that names this document.
  package var extensionMember: JSONValue {
    .object(JSONObject([("version", .int(1)), ("sha256Hash", .string(hexadecimal))]))
  }

  /// The hash as 64 digits.
  package var hexadecimal: String {
    var text: [UInt8] = []
    for byte in hash {
      for digit in [byte >> 4, byte & 15] {
        text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for position in stride(from: 0, to: 64, by: 2) {
      guard let high = digit(digits[position]), let low = digit(digits[position + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

/// Why a persisted operation cannot be run. The first message is what clients look for, letter by letter.
package enum PersistedOperationError: Error, Equatable, Sendable, CaseIterable, CustomStringConvertible {
  /// No document of that hash is known: send it along.
  case notFound
  /// The server keeps none.
  case notSupported
  /// The document that came along has another hash.
  case hashMismatch
  /// `sha256Hash` is not 64 hexadecimal digits.
  case malformedHash
  /// A version other than 1.
  case version

  package var description: String {
    switch self {
    case .notFound: "PersistedQueryNotFound"
    case .notSupported: "PersistedQueryNotSupported"
    case .hashMismatch: "the document's SHA-256 is not extensions.persistedQuery.sha256Hash"
    case .malformedHash: "extensions.persistedQuery.sha256Hash must be 64 hexadecimal digits"
    case .version: "extensions.persistedQuery.version must be 1"
    }
  }

  /// The error's `extensions.code`.
  package var code: String {
    switch self {
    case .notFound: "PERSISTED_QUERY_NOT_FOUND"
    case .notSupported: "PERSISTED_QUERY_NOT_SUPPORTED"
    case .hashMismatch: "PERSISTED_QUERY_HASH_MISMATCH"
    case .malformedHash, .version: "BAD_USER_INPUT"
    }
  }

  /// What a list of errors says about a persisted operation, if anything: some servers give the message, some the code.
  package init?(errors: [JSONValue]) {
    for error in errors {
      for known in [PersistedOperationError.notFound, .notSupported] {
        let said = [error["message"]?.string, error["extensions"]?["code"]?.string]
        if said.contains(known.description) || said.contains(known.code) {
          self = known
          return
        }
      }
    }
    return nil
  }
}
