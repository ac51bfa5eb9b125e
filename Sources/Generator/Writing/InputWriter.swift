import MartletGraphQLLanguage

/// Writes enums and input objects.
struct InputWriter {
  let schema: Schema
  let names: TypeNames
  let configuration: GeneratorConfiguration
  let sources: JoinedSources
  private(set) var errors: [GenerationError] = []
  private var prefix: String { configuration.prefix }

  init(schema: Schema, names: TypeNames, configuration: GeneratorConfiguration, sources: JoinedSources) {
    self.schema = schema
    self.names = names
    self.configuration = configuration
    self.sources = sources
  }

  // MARK: Stored values

  /// Properties, initialiser and coding keys of a struct whose properties go to the server.
  func properties(_ inputs: [InputShape], to text: inout SwiftText) {
    let isInternal = configuration.access == .internal
    for input in inputs {
      if configuration.descriptions { text.comment(input.description) }
      if let reason = input.deprecation {
        if isInternal || input.defaultText != nil {
          text.line(StructWriter.deprecated(reason))
        } else {
          text.comment("Deprecated: \(reason)")
        }
      }
      // Swift's own memberwise initialiser takes the defaults from here; one that is written out has them itself.
      let isLeftOut = input.deprecation != nil && input.defaultText != nil
      let value = isInternal || isLeftOut ? input.defaultText.map { " = \($0)" } ?? "" : ""
      text.line("\(prefix)var \(SwiftName.escaped(input.property)): \(input.type)\(value)")
    }
    if !isInternal {
      let taken = inputs.filter { $0.deprecation == nil || $0.defaultText == nil }
      text.space()
      StructWriter.initialiser(prefix, taken.map(\.parameter), taken.map(\.property), to: &text)
    }
    if inputs.contains(where: { $0.property != $0.name }) {
      text.space()
      text.block("enum CodingKeys: String, CodingKey") { text in
        text.list("case ", inputs.map { StructWriter.codingKey($0.property, $0.name) })
      }
    }
  }

  // MARK: Input objects

  mutating func inputObject(_ type: NamedType, to text: inout SwiftText) {
    let name = names.schemaType(type.name)
    var claimed: [String: String] = [:]
    let inputs = type.inputFields.map { field in
      let property = type.isOneOf ? names.property(field.name) : SwiftName.property(field.name)
      if let other = claimed.updateValue(field.name, forKey: property) {
        errors.append(collision(field.name, other, property, of: type))
      }
      return InputShape(
        name: field.name, property: property, type: type.isOneOf ? field.type.nonNull : field.type,
        hasDefault: field.defaultValue != nil, description: field.description, deprecation: field.deprecationReason,
        schema: schema, names: names)
    }
    if configuration.descriptions { text.comment(type.description) }
    if type.isOneOf {
      oneOf(name, inputs, to: &text)
    } else {
      text.block("\(configuration.typePrefix)struct \(name): Codable, Hashable, Sendable") { text in
        properties(inputs, to: &text)
      }
    }
  }

  /// An input object that takes exactly one of its fields is an enum: no other value can be made.
  private func oneOf(_ name: String, _ inputs: [InputShape], to text: inout SwiftText) {
    text.block("\(configuration.typePrefix)indirect enum \(name): Codable, Hashable, Sendable") { text in
      for input in inputs {
        if configuration.descriptions { text.comment(input.description) }
        if let reason = input.deprecation { text.comment("Deprecated: \(reason)") }
        text.line("case \(SwiftName.escaped(input.property))(\(input.type))")
      }
      text.space()
      text.block("enum CodingKeys: String, CodingKey") { text in
        text.list("case ", inputs.map { StructWriter.codingKey($0.property, $0.name) })
      }
      text.space()
      text.block("\(prefix)init(from decoder: any Decoder) throws") { text in
        text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
        text.line("guard container.allKeys.count == 1, let key = container.allKeys.first else {")
        text.line("  throw DecodingError.dataCorrupted(")
        text.line("    .init(codingPath: decoder.codingPath, debugDescription: \"\(name) has exactly one member.\"))")
        text.line("}")
        text.line("switch key {")
        for input in inputs {
          let property = SwiftName.escaped(input.property)
          text.line("case .\(property): self = .\(property)(try container.decode(\(input.type).self, forKey: key))")
        }
        text.line("}")
      }
      text.space()
      text.block("\(prefix)func encode(to encoder: any Encoder) throws") { text in
        text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
        text.line("switch self {")
        for input in inputs {
          let property = SwiftName.escaped(input.property)
          text.line("case .\(property)(let value): try container.encode(value, forKey: .\(property))")
        }
        text.line("}")
      }
    }
  }

  // MARK: Enums

  /// - Parameter isNullable: whether the enum stands where null and absent differ.
  func enumeration(_ type: NamedType, isNullable: Bool, to text: inout SwiftText) {
    let name = names.schemaType(type.name)
    let swift = SwiftName.enumCases(type.enumValues.map(\.name))
    let cases = zip(type.enumValues, swift).map { (value: $0, name: SwiftName.escaped($1)) }
    if configuration.descriptions { text.comment(type.description) }
    text.block("\(configuration.typePrefix)enum \(name): RawRepresentable, CaseIterable, Codable, Hashable, Sendable") {
      text in
      for (value, name) in cases {
        if configuration.descriptions { text.comment(value.description) }
        // Only a comment: with the attribute the initialiser below would warn.
        if let reason = value.deprecationReason { text.comment("Deprecated: \(reason)") }
        text.line("case \(name)")
      }
      text.comment("A value that the schema did not have when this was generated.")
      text.line("case unknown(String)")
      text.space()
      text.comment("The values of the schema.")
      text.list("\(prefix)static let allCases: [Self] = [", cases.map { "." + $0.name }, "]")
      text.space()
      text.block("\(prefix)init(rawValue: String)") { text in
        text.line("switch rawValue {")
        for (value, name) in cases { text.line("case \"\(value.name)\": self = .\(name)") }
        text.line("default: self = .unknown(rawValue)")
        text.line("}")
      }
      text.space()
      text.block("\(prefix)var rawValue: String") { text in
        text.line("switch self {")
        for (value, name) in cases { text.line("case .\(name): \"\(value.name)\"") }
        text.line("case .unknown(let name): name")
        text.line("}")
      }
    }
    // Swift looks `.jedi` up in the optional-like type, which has cases of its own.
    let offered = cases.filter { !["none", "null", "some"].contains($0.name) }
    guard isNullable, !offered.isEmpty else { return }
    text.space()
    text.block("nonisolated extension GraphQLNullable where Wrapped == \(name)") { text in
      for (_, name) in offered { text.line("\(prefix)static var \(name): Self { .some(.\(name)) }") }
    }
  }

  private func collision(_ name: String, _ other: String, _ swift: String, of type: NamedType) -> GenerationError {
    GenerationError(
      .nameCollision, "'\(other)' and '\(name)' of \(type.name) would both be '\(swift)' in Swift.",
      location: type.definition?.location.source)
  }
}
