/// A type system, resolved and checked: what requests can be made and what types their answers have (section 3).
///
/// Immutable. Besides the types written in its document a schema has the introspection types, the built-in scalars it
/// refers to, and the built-in directives.
package final class Schema: Sendable {
  /// All types; a type's `id` is its position. Written types come first, in document order.
  package let types: [NamedType]
  /// All directives, written ones first.
  package let directives: [SchemaDirective]
  package let description: String?
  /// Directives applied to the schema definition and its extensions.
  package let appliedDirectives: [Directive]
  package let definition: SchemaDefinition?
  package let extensions: [SchemaDefinition]
  package let queryType: NamedType?
  package let mutationType: NamedType?
  package let subscriptionType: NamedType?
  /// What the schema was asked to have besides what the specification gives every schema.
  package let options: SchemaOptions

  /// `__typename: String!`, on every composite type.
  package let typenameField: SchemaField
  /// `__schema: __Schema!`, on the query root.
  package let schemaField: SchemaField
  /// `__type(name: String!): __Type`, on the query root.
  package let typeField: SchemaField

  private let typeTable: [String: Int]
  private let directiveTable: [String: Int]

  init(
    types: [NamedType], directives: [SchemaDirective], definition: SchemaDefinition?, extensions: [SchemaDefinition],
    roots: [OperationKind: TypeID], metaFields: (typename: SchemaField, schema: SchemaField, type: SchemaField),
    options: SchemaOptions
  ) {
    self.options = options
    self.types = types
    self.directives = directives
    self.definition = definition
    self.extensions = extensions
    description = definition?.description?.text
    appliedDirectives = (definition?.directives ?? []) + extensions.flatMap(\.directives)
    queryType = roots[.query].map { types[$0.index] }
    mutationType = roots[.mutation].map { types[$0.index] }
    subscriptionType = roots[.subscription].map { types[$0.index] }
    (typenameField, schemaField, typeField) = metaFields
    typeTable = Dictionary(types.map { ($0.name, $0.id.index) }, uniquingKeysWith: { first, _ in first })
    directiveTable = Dictionary(
      directives.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Resolves a document, held to what is needed to understand it: that names exist and stand for one thing.
  ///
  /// - Parameter checks: the rules a schema of one's own is held to besides; nil for a schema that is someone else's.
  package static func resolve(
    _ document: Document, options: SchemaOptions, checks: SchemaChecks? = nil
  ) throws(SchemaErrors) -> Schema {
    try SchemaBuilder.build(document, options: options, checks: checks)
  }

  /// The type called `name`.
  package func type(_ name: String) -> NamedType? {
    typeTable[name].map { types[$0] }
  }

  package subscript(_ id: TypeID) -> NamedType {
    types[id.index]
  }

  /// The directive called `name`.
  package func directive(_ name: String) -> SchemaDirective? {
    directiveTable[name].map { directives[$0] }
  }

  /// The root type of operations of `kind`.
  package func rootType(_ kind: OperationKind) -> NamedType? {
    switch kind {
    case .query: queryType
    case .mutation: mutationType
    case .subscription: subscriptionType
    }
  }

  /// The field called `name` that can be selected on `parent`, meta fields included.
  @inline(__always)
  package func field(_ name: String, on parent: NamedType) -> SchemaField? {
    parent.field(name) ?? metaField(name, on: parent)
  }

  private func metaField(_ name: String, on parent: NamedType) -> SchemaField? {
    switch name {
    case "__typename": parent.isComposite ? typenameField : nil
    case "__schema": parent === queryType ? schemaField : nil
    case "__type": parent === queryType ? typeField : nil
    default: nil
    }
  }

  /// The type a reference means in this schema; nil when its name is unknown.
  package func resolve(_ reference: TypeReference) -> WrappedType? {
    resolve(reference, lists: 0)
  }

  private func resolve(_ reference: TypeReference, lists: Int) -> WrappedType? {
    switch reference {
    case .named(let name): type(name.text).map { WrappedType($0.id) }
    case .list(let element, _):
      lists < WrappedType.maximumLists ? resolve(element, lists: lists + 1)?.listed : nil
    case .nonNull(let type, _): resolve(type, lists: lists)?.nonNull
    }
  }

  /// The text of a type, such as `[Flight!]!`.
  package func describe(_ type: WrappedType) -> String {
    if type.isNonNull { return describe(type.nullable) + "!" }
    if let element = type.element { return "[" + describe(element) + "]" }
    return self[type.named].name
  }

  /// Whether values of `type` are values of `other` too (section 3.6.1, IsValidImplementationFieldType).
  package func isSubtype(_ type: WrappedType, of other: WrappedType) -> Bool {
    if type == other { return true }
    if other.isNonNull { return type.isNonNull && isSubtype(type.nullable, of: other.nullable) }
    if type.isNonNull { return isSubtype(type.nullable, of: other) }
    if let otherElement = other.element {
      guard let element = type.element else { return false }
      return isSubtype(element, of: otherElement)
    }
    guard type.isNamed else { return false }
    let (inner, outer) = (self[type.named], self[other.named])
    switch inner.kind {
    case .object: return outer.isAbstract && outer.includes(inner.id)
    case .interface: return inner.interfaces.contains(outer.id)
    case .scalar, .union, .enumeration, .inputObject: return false
    }
  }
}

/// Why a document is not a valid type system. Never empty.
package struct SchemaErrors: Error, Sendable, CustomStringConvertible {
  package var errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) {
    self.errors = errors
  }

  /// One error a line.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}
