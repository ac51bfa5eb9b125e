import MartletGraphQLLanguage

/// Coding that Swift cannot make up: a struct with type cases reads each from the same object, as its type says.
extension StructWriter {
  /// The extensions with hand-made coding of a shape and of those inside it.
  func writeCoding(_ shape: Shape, to text: inout SwiftText) {
    if !shape.cases.isEmpty {
      text.space()
      text.block("nonisolated extension \(shape.path): Codable") { text in
        codingKeys(shape, to: &text)
        text.space()
        decoding(shape, to: &text)
        text.space()
        encoding(shape, to: &text)
      }
    }
    for inner in shape.nested where inner.fragment == nil { writeCoding(inner, to: &text) }
  }

  private func decoding(_ shape: Shape, to text: inout SwiftText) {
    text.block("\(configuration.prefix)init(from decoder: any Decoder) throws") { text in
      text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
      for member in shape.members {
        let name = SwiftName.escaped(member.property)
        // An extension does not see the types of the struct around this one.
        let base = member.leaf ?? (member.isShared ? member.child?.path : member.child?.name) ?? "String"
        let type = Self.type(member.type.nonNull, base, isOptional: false)
        let call = member.isOptional ? "decodeIfPresent" : "decode"
        // A field may be called as the variables here are.
        text.line("self.\(name) = try container.\(call)(\(type).self, forKey: .\(name))")
      }
      for typeCase in shape.cases {
        // The objects of this shape that satisfy the condition.
        let types = shape.scope.intersection(typeCase.type.possibleTypes).map { schema[$0].name }.sorted()
        if types.count == 1 {
          let call = "try __typename == \"\(types[0])\" ? \(typeCase.shape.name)(from: decoder) : nil"
          text.line("\(typeCase.property) = \(call)")
          continue
        }
        text.line("switch __typename {")
        text.list(
          "case ", types.map { "\"\($0)\"" }, ": \(typeCase.property) = try \(typeCase.shape.name)(from: decoder)")
        text.line("default: \(typeCase.property) = nil")
        text.line("}")
      }
    }
  }

  private func encoding(_ shape: Shape, to text: inout SwiftText) {
    text.block("\(configuration.prefix)func encode(to encoder: any Encoder) throws") { text in
      text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
      for member in shape.members {
        let name = SwiftName.escaped(member.property)
        let call = member.isOptional ? "encodeIfPresent" : "encode"
        text.line("try container.\(call)(self.\(name), forKey: .\(name))")
      }
      // A case has all fields of this struct and more, and one for fewer types all of those around it: what it writes
      // stands last.
      let cases = shape.cases.enumerated().sorted {
        ($1.element.shape.scope.count, $0.offset) < ($0.element.shape.scope.count, $1.offset)
      }
      for (_, typeCase) in cases { text.line("try \(typeCase.property)?.encode(to: encoder)") }
    }
  }
}
