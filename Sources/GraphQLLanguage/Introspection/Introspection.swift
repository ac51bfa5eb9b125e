/// Something introspection can show, as the parent of introspection fields (section 4.2).
package enum IntrospectionNode: Sendable {
  case schema
  case type(WrappedType)
  case field(SchemaField)
  case input(SchemaInput)
  case enumValue(SchemaEnumValue)
  case directive(SchemaDirective)

  /// The name of the introspection type the node is an object of.
  package var typeName: String {
    switch self {
    case .schema: "__Schema"
    case .type: "__Type"
    case .field: "__Field"
    case .input: "__InputValue"
    case .enumValue: "__EnumValue"
    case .directive: "__Directive"
    }
  }
}

/// What an introspection field means, before its selection is applied.
package enum IntrospectionValue: Sendable {
  case null
  case boolean(Bool)
  case string(String)
  /// The name of an enum value.
  case name(String)
  case names([String])
  case node(IntrospectionNode)
  case nodes([IntrospectionNode])

  static func optional(_ text: String?) -> IntrospectionValue {
    text.map { .string($0) } ?? .null
  }
}

/// Answers introspection from a schema. The executor completes the answers with selections and arguments.
package enum Introspection {
  /// `__type(name:)`.
  package static func type(_ name: String, in schema: Schema) -> IntrospectionValue {
    schema.type(name).map { .node(.type(WrappedType($0.id))) } ?? .null
  }

  /// The value of `field` on `node`.
  ///
  /// - Parameter includeDeprecated: the argument of that name; false for fields that do not have it.
  package static func value(
    of field: String, on node: IntrospectionNode, includeDeprecated: Bool, in schema: Schema
  ) -> IntrospectionValue {
    if field == "__typename" { return .string(node.typeName) }
    switch node {
    case .schema: return value(of: field, in: schema)
    case .type(let type): return value(of: field, type, includeDeprecated, schema)
    case .field(let member):
      switch field {
      case "name": return .string(member.name)
      case "description": return .optional(member.description)
      case "args": return .nodes(inputs(member.arguments, includeDeprecated))
      case "type": return .node(.type(member.type))
      case "isDeprecated": return .boolean(member.deprecationReason != nil)
      case "deprecationReason": return .optional(member.deprecationReason)
      default: return .null
      }
    case .input(let input):
      switch field {
      case "name": return .string(input.name)
      case "description": return .optional(input.description)
      case "type": return .node(.type(input.type))
      case "defaultValue": return .optional(input.defaultValue.map { Printer.text(of: $0) })
      case "isDeprecated": return .boolean(input.deprecationReason != nil)
      case "deprecationReason": return .optional(input.deprecationReason)
      default: return .null
      }
    case .enumValue(let value):
      switch field {
      case "name": return .string(value.name)
      case "description": return .optional(value.description)
      case "isDeprecated": return .boolean(value.deprecationReason != nil)
      case "deprecationReason": return .optional(value.deprecationReason)
      default: return .null
      }
    case .directive(let directive):
      switch field {
      case "name": return .string(directive.name)
      case "description": return .optional(directive.description)
      case "isRepeatable": return .boolean(directive.isRepeatable)
      case "locations": return .names(directive.locations.map(\.rawValue))
      case "args": return .nodes(inputs(directive.arguments, includeDeprecated))
      default: return .null
      }
    }
  }

  private static func value(of field: String, in schema: Schema) -> IntrospectionValue {
    func root(_ type: NamedType?) -> IntrospectionValue { type.map { .node(.type(WrappedType($0.id))) } ?? .null }
    switch field {
    case "description": return .optional(schema.description)
    case "types": return .nodes(schema.types.map { .type(WrappedType($0.id)) })
    case "queryType": return root(schema.queryType)
    case "mutationType": return root(schema.mutationType)
    case "subscriptionType": return root(schema.subscriptionType)
    case "directives": return .nodes(schema.directives.map { .directive($0) })
    default: return .null
    }
  }

  private static func value(
    of field: String, _ type: WrappedType, _ includeDeprecated: Bool, _ schema: Schema
  ) -> IntrospectionValue {
    guard !type.isNonNull else { return wrapper(field, "NON_NULL", type.nullable) }
    if let element = type.element { return wrapper(field, "LIST", element) }
    let named = schema[type.named]
    let hasFields = named.kind == .object || named.kind == .interface
    switch field {
    case "kind": return .name(named.kind.rawValue)
    case "name": return .string(named.name)
    case "description": return .optional(named.description)
    case "specifiedByURL": return .optional(named.specifiedByURL)
    case "fields":
      guard hasFields else { return .null }
      return .nodes(named.fields.filter { includeDeprecated || $0.deprecationReason == nil }.map { .field($0) })
    case "interfaces":
      return hasFields ? .nodes(named.interfaces.map { .type(WrappedType($0)) }) : .null
    case "possibleTypes":
      return named.isAbstract ? .nodes(named.possibleTypes.map { .type(WrappedType($0)) }) : .null
    case "enumValues":
      guard named.kind == .enumeration else { return .null }
      return .nodes(
        named.enumValues.filter { includeDeprecated || $0.deprecationReason == nil }.map { .enumValue($0) })
    case "inputFields":
      return named.kind == .inputObject ? .nodes(inputs(named.inputFields, includeDeprecated)) : .null
    case "isOneOf": return named.kind == .inputObject ? .boolean(named.isOneOf) : .null
    default: return .null
    }
  }

  private static func wrapper(_ field: String, _ kind: String, _ inner: WrappedType) -> IntrospectionValue {
    switch field {
    case "kind": .name(kind)
    case "ofType": .node(.type(inner))
    default: .null
    }
  }

  private static func inputs(_ inputs: [SchemaInput], _ includeDeprecated: Bool) -> [IntrospectionNode] {
    inputs.filter { includeDeprecated || $0.deprecationReason == nil }.map { .input($0) }
  }
}
