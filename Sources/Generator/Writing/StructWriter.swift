import MartletGraphQLLanguage

/// Writes the structs of results.
struct StructWriter {
  let schema: Schema
  let configuration: GeneratorConfiguration
  private var prefix: String { configuration.prefix }

  init(schema: Schema, configuration: GeneratorConfiguration) {
    self.schema = schema
    self.configuration = configuration
  }

  /// A struct with those inside it, or the alias of a fragment's.
  func write(_ shape: Shape, aliasOf name: (String) -> String, to text: inout SwiftText) {
    if let fragment = shape.fragment {
      text.line("\(prefix)typealias \(shape.name) = \(name(fragment))")
      return
    }
    let conformances = shape.cases.isEmpty ? "Codable, Hashable, Sendable" : "Hashable, Sendable"
    let isTop = shape.name == shape.path
    text.block("\(isTop ? configuration.typePrefix : prefix)struct \(shape.name): \(conformances)") { text in
      for member in shape.members { property(member, of: shape, to: &text) }
      for typeCase in shape.cases {
        text.line("\(prefix)var \(typeCase.property): \(typeCase.shape.name)?")
      }
      if configuration.access != .internal { initialiser(shape, to: &text) }
      for conversion in shape.conversions {
        text.space()
        write(conversion, to: &text)
      }
      if shape.cases.isEmpty, shape.members.contains(where: { $0.property != $0.responseName }) {
        text.space()
        codingKeys(shape, to: &text)
      }
      for inner in shape.nested {
        if inner.fragment == nil || text.lines.last?.hasSuffix("}") == true { text.space() }
        write(inner, aliasOf: name, to: &text)
      }
    }
  }

  private func property(_ member: Shape.Member, of shape: Shape, to text: inout SwiftText) {
    let type = self.type(of: member)
    guard let reason = member.deprecation else {
      text.line("\(prefix)var \(SwiftName.escaped(member.property)): \(type)")
      return
    }
    guard InitialiserMembers.isMarked(member, of: shape, configuration) else {
      text.comment("Deprecated: \(reason)")
      text.line("\(prefix)var \(SwiftName.escaped(member.property)): \(type)")
      return
    }
    text.line(Self.deprecated(reason))
    let value = configuration.access == .internal ? "" : " = nil"
    text.line("\(prefix)var \(SwiftName.escaped(member.property)): \(type)\(value)")
  }

  static func deprecated(_ reason: String) -> String {
    "@available(*, deprecated, message: \"\(SwiftText.escaped(reason))\")"
  }

  private func initialiser(_ shape: Shape, to text: inout SwiftText) {
    let members = InitialiserMembers.of(shape, configuration)
    let parameters =
      members.map { "\(SwiftName.escaped($0.property)): \(type(of: $0))\($0.isOptional ? " = nil" : "")" }
      + shape.cases.map { "\($0.property): \($0.shape.name)? = nil" }
    text.space()
    Self.initialiser(prefix, parameters, members.map(\.property) + shape.cases.map(\.property), to: &text)
  }

  /// An initialiser that stores its parameters.
  static func initialiser(
    _ prefix: String, _ parameters: [String], _ properties: [String], to text: inout SwiftText
  ) {
    guard !parameters.isEmpty else {
      text.line("\(prefix)init() {}")
      return
    }
    text.list("\(prefix)init(", parameters, ") {")
    for property in properties {
      text.line("  self.\(SwiftName.escaped(property)) = \(SwiftName.escaped(property))")
    }
    text.line("}")
  }

  private func write(_ conversion: Shape.Conversion, to text: inout SwiftText) {
    guard let expression = conversion.expression else {
      text.line("// No conversion to \(conversion.type): it shares fields with selections that have other conditions.")
      return
    }
    let property = SwiftName.escaped(conversion.property)
    text.block("\(prefix)var \(property): \(conversion.type)\(conversion.isOptional ? "?" : "")") { text in
      if conversion.guards.isEmpty {
        text.line(expression)
      } else {
        text.line("guard \(conversion.guards.map { "let \($0)" }.joined(separator: ", ")) else { return nil }")
        text.line("return \(expression)")
      }
    }
  }

  func codingKeys(_ shape: Shape, to text: inout SwiftText) {
    text.block("enum CodingKeys: String, CodingKey") { text in
      text.list("case ", shape.members.map { Self.codingKey($0.property, $0.responseName) })
    }
  }

  /// One case of a `CodingKeys` enum.
  static func codingKey(_ property: String, _ name: String) -> String {
    SwiftName.escaped(property) + (property == name ? "" : " = \"\(name)\"")
  }

  // MARK: Types

  private func type(of member: Shape.Member) -> String {
    let base = member.leaf ?? member.child?.name ?? "String"
    return Self.type(member.type, base, isOptional: member.isOptional)
  }

  /// A wrapped type in Swift. Elements of lists are optional where they may be null.
  static func type(_ type: WrappedType, _ base: String, isOptional: Bool) -> String {
    if isOptional { return self.type(type.nonNull, base, isOptional: false) + "?" }
    if let element = type.element { return "[\(self.type(element, base, isOptional: !element.isNonNull))]" }
    return base
  }
}
