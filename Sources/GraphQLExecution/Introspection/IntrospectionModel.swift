import MartletGraphQLLanguage
import MartletJSON

/// Answers the introspection fields of a schema (section 4 "Introspection"). Pure: nothing is prepared, each selected
/// field reads from the schema.
package struct IntrospectionModel: Sendable {
  let schema: Schema

  init(_ schema: Schema) {
    self.schema = schema
  }

  /// `__schema`.
  var schemaResolver: FieldResolver {
    .builtIn { [self] _ in .object(IntrospectionNode(.schema, schema)) }
  }

  /// `__type(name:)`.
  var typeResolver: FieldResolver {
    .builtIn { [self] request in
      guard let name = request.string("name"), let type = schema.type(name), type.name.utf8.elementsEqual(name.utf8)
      else { return .null }
      return .object(IntrospectionNode(.type(WrappedType(type.id)), schema))
    }
  }

  /// The fields of the introspection types.
  static let fieldResolver = FieldResolver.builtIn { request in
    guard case .object(let object) = request.source.content, let node = object as? IntrospectionNode else {
      return .null
    }
    return node.value(of: request.fieldName, includesDeprecated: request.bool("includeDeprecated") ?? false)
  }
}

/// An object of one of the introspection types.
struct IntrospectionNode: ResolvedObject {
  enum Subject: Sendable {
    case schema
    case type(WrappedType)
    case field(SchemaField)
    case input(SchemaInput)
    case enumValue(SchemaEnumValue)
    case directive(SchemaDirective)
  }

  let subject: Subject
  let schema: Schema

  init(_ subject: Subject, _ schema: Schema) {
    self.subject = subject
    self.schema = schema
  }

  func value(of field: String) -> ResolvedValue {
    value(of: field, includesDeprecated: false)
  }

  func value(of field: String, includesDeprecated: Bool) -> ResolvedValue {
    switch subject {
    case .schema: schemaValue(field)
    case .type(let type): typeValue(type, field, includesDeprecated)
    case .field(let definition): fieldValue(definition, field, includesDeprecated)
    case .input(let input): inputValue(input, field)
    case .enumValue(let value): enumValue(value, field)
    case .directive(let directive): directiveValue(directive, field, includesDeprecated)
    }
  }

  private func schemaValue(_ field: String) -> ResolvedValue {
    switch field {
    case "description": text(schema.description)
    case "types": .list(schema.types.map { named($0) })
    case "queryType": schema.queryType.map { named($0) } ?? .null
    case "mutationType": schema.mutationType.map { named($0) } ?? .null
    case "subscriptionType": schema.subscriptionType.map { named($0) } ?? .null
    case "directives": .list(schema.directives.map { node(.directive($0)) })
    default: .null
    }
  }

  private func typeValue(_ type: WrappedType, _ field: String, _ includesDeprecated: Bool) -> ResolvedValue {
    if type.isNonNull { return wrapperValue("NON_NULL", type.nullable, field) }
    if let element = type.element { return wrapperValue("LIST", element, field) }
    let named = schema[type.named]
    let hasFields = named.kind == .object || named.kind == .interface
    switch field {
    case "kind": return text(named.kind.rawValue)
    case "name": return text(named.name)
    case "description": return text(named.description)
    case "specifiedByURL": return text(named.specifiedByURL)
    case "fields" where hasFields:
      return .list(
        named.fields.filter { includesDeprecated || $0.deprecationReason == nil }.map { node(.field($0)) })
    case "interfaces" where hasFields: return .list(named.interfaces.map { self.named(schema[$0]) })
    case "possibleTypes" where named.isAbstract: return .list(named.possibleTypes.map { self.named(schema[$0]) })
    case "enumValues" where named.kind == .enumeration:
      return .list(
        named.enumValues.filter { includesDeprecated || $0.deprecationReason == nil }.map { node(.enumValue($0)) })
    case "inputFields" where named.kind == .inputObject: return inputs(named.inputFields, includesDeprecated)
    case "isOneOf" where named.kind == .inputObject: return .value(.bool(named.isOneOf))
    default: return .null
    }
  }

  private func wrapperValue(_ kind: String, _ inner: WrappedType, _ field: String) -> ResolvedValue {
    switch field {
    case "kind": text(kind)
    case "ofType": node(.type(inner))
    default: .null
    }
  }

  private func fieldValue(_ definition: SchemaField, _ field: String, _ includesDeprecated: Bool) -> ResolvedValue {
    switch field {
    case "name": text(definition.name)
    case "description": text(definition.description)
    case "args": inputs(definition.arguments, includesDeprecated)
    case "type": node(.type(definition.type))
    case "isDeprecated": .value(.bool(definition.deprecationReason != nil))
    case "deprecationReason": text(definition.deprecationReason)
    default: .null
    }
  }

  private func inputValue(_ input: SchemaInput, _ field: String) -> ResolvedValue {
    switch field {
    case "name": text(input.name)
    case "description": text(input.description)
    case "type": node(.type(input.type))
    case "defaultValue": text(input.defaultValue.map { Printer.text(of: $0) })
    case "isDeprecated": .value(.bool(input.deprecationReason != nil))
    case "deprecationReason": text(input.deprecationReason)
    default: .null
    }
  }

  private func enumValue(_ value: SchemaEnumValue, _ field: String) -> ResolvedValue {
    switch field {
    case "name": text(value.name)
    case "description": text(value.description)
    case "isDeprecated": .value(.bool(value.deprecationReason != nil))
    case "deprecationReason": text(value.deprecationReason)
    default: .null
    }
  }

  private func directiveValue(
    _ directive: SchemaDirective, _ field: String, _ includesDeprecated: Bool
  ) -> ResolvedValue {
    switch field {
    case "name": text(directive.name)
    case "description": text(directive.description)
    case "isRepeatable": .value(.bool(directive.isRepeatable))
    case "locations": .list(directive.locations.map { text($0.rawValue) })
    case "args": inputs(directive.arguments, includesDeprecated)
    default: .null
    }
  }

  private func inputs(_ inputs: [SchemaInput], _ includesDeprecated: Bool) -> ResolvedValue {
    .list(inputs.filter { includesDeprecated || $0.deprecationReason == nil }.map { node(.input($0)) })
  }

  private func named(_ type: NamedType) -> ResolvedValue { node(.type(WrappedType(type.id))) }

  private func node(_ subject: Subject) -> ResolvedValue { .object(IntrospectionNode(subject, schema)) }

  private func text(_ text: String?) -> ResolvedValue { text.map { .value(.string($0)) } ?? .null }
}
