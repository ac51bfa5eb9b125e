/// Whether a document asks for parts. Answering yes where there are none costs a longer Accept field and nothing else.
package enum PartsRequest {
  /// Looks for `@defer` and `@stream`, with ignored characters after the sign, as the language allows them.
  package static func occur(in document: String) -> Bool {
    var rest = document.utf8[...]
    while let sign = rest.firstIndex(of: UInt8(ascii: "@")) {
      rest = rest[rest.index(after: sign)...].drop {
        $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D || $0 == 0x2C
      }
      let name = rest.prefix { isNameByte($0) }
      if name.elementsEqual("defer".utf8) || name.elementsEqual("stream".utf8) { return true }
    }
    return false
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
    default: false
    }
  }
}
