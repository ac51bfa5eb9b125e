/// A media type with its parameters (RFC 9110 section 8.3.1). Names compare without regard to ASCII case.
package struct MediaType: Sendable, Equatable {
  /// Lower case.
  package var type: String
  /// Lower case.
  package var subtype: String
  /// Names in lower case, values as written with quotes taken off.
  package var parameters: [Parameter]

  package struct Parameter: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  /// Reads one media type; nil when it is none. `leniently`: parameters that are malformed are taken as they stand, or
  /// left out, which is for types whose parameters are only looked at where they are needed.
  package init?(_ text: ArraySlice<UInt8>, leniently: Bool = false) {
    // A name has neither a quote nor a semicolon, so that it ends at the first one.
    let end = text.firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
    let names = HTTPSyntax.trimmed(text[..<end])
    guard let slash = names.firstIndex(of: UInt8(ascii: "/")), HTTPSyntax.isToken(names[..<slash]),
      HTTPSyntax.isToken(names[(slash + 1)...])
    else { return nil }
    type = Self.lowercased(names[..<slash])
    subtype = Self.lowercased(names[(slash + 1)...])
    parameters = []
    if end == text.endIndex { return }
    for part in HTTPSyntax.split(text[(end + 1)...], at: UInt8(ascii: ";")) where !part.isEmpty {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")), HTTPSyntax.isToken(part[..<equals]) else {
        if leniently { continue }
        return nil
      }
      let written = part[(equals + 1)...]
      guard let value = HTTPSyntax.parameterValue(written) ?? (leniently ? [UInt8](written) : nil) else { return nil }
      parameters.append(
        Parameter(name: Self.lowercased(part[..<equals]), value: String(decoding: value, as: UTF8.self)))
    }
  }

  /// The value of the parameter called `name` (lower case).
  package subscript(_ name: String) -> String? {
    parameters.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  package func matches(_ type: String, _ subtype: String) -> Bool {
    self.type.utf8.elementsEqual(type.utf8) && self.subtype.utf8.elementsEqual(subtype.utf8)
  }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    // The commonest types are in lower case.
    if bytes.allSatisfy({ HTTPSyntax.lowercased($0) == $0 }) { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.map(HTTPSyntax.lowercased), as: UTF8.self)
  }
}

/// One element of an Accept header: a media type or range with its weight in thousandths.
package struct AcceptedMediaType: Sendable, Equatable {
  package var mediaType: MediaType
  package var weight: Int

  /// The elements that can be read, in order; others are ignored, as the header only states a wish.
  package static func parse(_ headers: HTTPHeaders) -> [AcceptedMediaType] {
    headers.list("Accept").compactMap { element in
      guard var type = MediaType(element) else { return nil }
      var weight = 1000
      if let index = type.parameters.firstIndex(where: { $0.name == "q" }) {
        guard let value = thousandths(type.parameters[index].value) else { return nil }
        weight = value
        // What follows the weight are parameters of the Accept header, not of the type.
        type.parameters.removeSubrange(index...)
      }
      return AcceptedMediaType(mediaType: type, weight: weight)
    }
  }

  /// How specifically this element covers a type: 2 by name, 1 by `type/*`, 0 by `*/*`; nil not at all.
  package func specificity(for type: String, _ subtype: String) -> Int? {
    if mediaType.matches(type, subtype) { return 2 }
    if mediaType.matches(type, "*") { return 1 }
    return mediaType.matches("*", "*") ? 0 : nil
  }

  /// `0`, `1`, or either with up to three decimals, at most 1.
  private static func thousandths(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, first == 0x30 || first == 0x31, bytes.count <= 5 else { return nil }
    if bytes.count == 1 { return first == 0x31 ? 1000 : 0 }
    guard bytes[1] == 0x2E else { return nil }
    var value = Int(first - 0x30) * 1000
    var place = 100
    for digit in bytes.dropFirst(2) {
      guard (0x30...0x39).contains(digit) else { return nil }
      value += Int(digit - 0x30) * place
      place /= 10
    }
    return value <= 1000 ? value : nil
  }
}
