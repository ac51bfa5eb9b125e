/// A parsed GraphQL text: operations and fragments, type system definitions, or both (section 2.2 "Document").
package struct Document: Equatable, Sendable {
  package var definitions: [Definition]
  /// The name the caller gave the source, such as a file name.
  package var sourceName: String?

  package init(definitions: [Definition], sourceName: String? = nil) {
    self.definitions = definitions
    self.sourceName = sourceName
  }

  /// The operations in document order.
  package var operations: [OperationDefinition] {
    definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
  }

  /// The fragments in document order.
  package var fragments: [FragmentDefinition] {
    definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
  }

  package static func == (left: Document, right: Document) -> Bool {
    left.definitions == right.definitions
  }
}

/// One top-level definition.
package indirect enum Definition: Equatable, Sendable {
  case operation(OperationDefinition)
  case fragment(FragmentDefinition)
  case schema(SchemaDefinition)
  case schemaExtension(SchemaDefinition)
  case type(TypeDefinition)
  case typeExtension(TypeDefinition)
  case directive(DirectiveDefinition)

  /// Where the definition starts, its description included.
  package var location: Location {
    switch self {
    case .operation(let operation): operation.location
    case .fragment(let fragment): fragment.location
    case .schema(let schema), .schemaExtension(let schema): schema.location
    case .type(let type), .typeExtension(let type): type.location
    case .directive(let directive): directive.location
    }
  }
}

/// The three kinds of operation.
package enum OperationKind: String, Hashable, Sendable, CaseIterable {
  case query, mutation, subscription
}

/// A query, mutation or subscription (section 2.3 "Operations").
package final class OperationDefinition: Equatable, Sendable {
  package let description: StringValue?
  package let kind: OperationKind
  package let name: Name?
  package let variables: [VariableDefinition]
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  package let location: Location

  package init(
    description: StringValue? = nil, kind: OperationKind, name: Name? = nil, variables: [VariableDefinition] = [],
    directives: [Directive] = [], selectionSet: SelectionSet, location: Location = .none
  ) {
    self.description = description
    self.kind = kind
    self.name = name
    self.variables = variables
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }

  package static func == (left: OperationDefinition, right: OperationDefinition) -> Bool {
    left === right
      || (left.description == right.description && left.kind == right.kind && left.name == right.name
        && left.variables == right.variables && left.directives == right.directives
        && left.selectionSet == right.selectionSet)
  }
}

/// A variable of an operation (section 2.11 "Variables"). Its place is its description or its `$`.
package struct VariableDefinition: Equatable, Sendable {
  package var description: StringValue?
  /// The name without `$`.
  package var name: Name
  package var type: TypeReference
  package var defaultValue: Value?
  package var directives: [Directive]
  package var location: Location

  package init(
    description: StringValue? = nil, name: Name, type: TypeReference, defaultValue: Value? = nil,
    directives: [Directive] = [], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
    self.location = location
  }
}

/// A named fragment (section 2.9 "Fragments").
package final class FragmentDefinition: Equatable, Sendable {
  package let description: StringValue?
  package let name: Name
  package let typeCondition: Name
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  package let location: Location

  package init(
    description: StringValue? = nil, name: Name, typeCondition: Name, directives: [Directive] = [],
    selectionSet: SelectionSet, location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }

  package static func == (left: FragmentDefinition, right: FragmentDefinition) -> Bool {
    left === right
      || (left.description == right.description && left.name == right.name
        && left.typeCondition == right.typeCondition && left.directives == right.directives
        && left.selectionSet == right.selectionSet)
  }
}
