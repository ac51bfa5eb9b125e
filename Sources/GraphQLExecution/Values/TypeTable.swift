package import MartletGraphQLLanguage

/// A schema together with the coercion rules of its leaf types.
package struct TypeTable: Sendable {
  package let schema: Schema
  private let leaves: [LeafShape?]

  package init(_ schema: Schema, scalars: [String: ScalarRules]) {
    self.schema = schema
    leaves = schema.types.map { type in
      switch type.kind {
      case .scalar: Self.scalar(type.name, scalars)
      case .enumeration: .enumeration(EnumShape(name: type.name, values: type.enumValues.map(\.name)))
      case .object, .interface, .union, .inputObject: nil
      }
    }
  }

  /// The coercion rules of the leaf type `id`; nil for other types.
  package func leaf(_ id: TypeID) -> LeafShape? {
    leaves[id.index]
  }

  private static func scalar(_ name: String, _ scalars: [String: ScalarRules]) -> LeafShape {
    switch name {
    case "Int": .int
    case "Float": .float
    case "String": .string
    case "Boolean": .boolean
    case "ID": .id
    default: .custom(name: name, scalars[name] ?? .passing)
    }
  }
}
