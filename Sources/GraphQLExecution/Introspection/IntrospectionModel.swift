import MartletGraphQLLanguage
import MartletJSON

/// Answers the introspection fields of a schema with what the language module says about it.
package struct IntrospectionModel: Sendable {
  let schema: Schema
  /// Whether clients may ask of whom their request says nothing; for others both entry fields are errors.
  let isOpen: Bool

  init(_ schema: Schema, isOpen: Bool) {
    self.schema = schema
    self.isOpen = isOpen
  }

  private func checkIsOpen(to context: RequestContext) throws {
    guard context.allowsIntrospection ?? isOpen else { throw ResolverError("Introspection is switched off.") }
  }

  /// `__schema`.
  var schemaResolver: FieldResolver {
    .builtIn { [self] request in
      try checkIsOpen(to: request.context)
      return .object(IntrospectionObject(node: .schema, schema: schema))
    }
  }

  /// `__type(name:)`.
  var typeResolver: FieldResolver {
    .builtIn { [self] request in
      try checkIsOpen(to: request.context)
      return IntrospectionObject.resolved(Introspection.type(request.string("name") ?? "", in: schema), schema)
    }
  }

  /// The fields of the introspection types.
  static let fieldResolver = FieldResolver.builtIn { request in
    guard case .object(let object) = request.source.content, let parent = object as? IntrospectionObject else {
      return .null
    }
    let value = Introspection.value(
      of: request.fieldName, on: parent.node, includeDeprecated: request.bool("includeDeprecated") ?? false,
      in: parent.schema)
    return IntrospectionObject.resolved(value, parent.schema)
  }
}

/// An object of one of the introspection types.
struct IntrospectionObject: ResolvedObject {
  let node: IntrospectionNode
  let schema: Schema

  var typeName: String? { node.typeName }

  func value(of field: String) -> ResolvedValue {
    Self.resolved(Introspection.value(of: field, on: node, includeDeprecated: false, in: schema), schema)
  }

  static func resolved(_ value: IntrospectionValue, _ schema: Schema) -> ResolvedValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .value(.bool(flag))
    case .string(let text), .name(let text): .value(.string(text))
    case .names(let texts): .value(.array(texts.map { .string($0) }))
    case .node(let node): .object(IntrospectionObject(node: node, schema: schema))
    case .nodes(let nodes): .list(nodes.map { .object(IntrospectionObject(node: $0, schema: schema)) })
    }
  }
}
