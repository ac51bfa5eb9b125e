/// `schema { query: Query }` or its extension (section 3.3 "Schema").
package struct SchemaDefinition: Equatable, Sendable {
  package var description: StringValue?
  package var directives: [Directive]
  package var operationTypes: [OperationTypeDefinition]
  package var location: Location

  package init(
    description: StringValue? = nil, directives: [Directive] = [], operationTypes: [OperationTypeDefinition] = [],
    location: Location = .none
  ) {
    self.description = description
    self.directives = directives
    self.operationTypes = operationTypes
    self.location = location
  }
}

/// One line of a schema definition: the root type of an operation kind.
package struct OperationTypeDefinition: Equatable, Sendable {
  package var kind: OperationKind
  package var type: Name
  package var location: Location

  package init(kind: OperationKind, type: Name, location: Location = .none) {
    self.kind = kind
    self.type = type
    self.location = location
  }
}

/// The definition of a named type, or an extension of one; which of the two is said by the enclosing `Definition`.
package struct TypeDefinition: Equatable, Sendable {
  /// What belongs to one kind of type only.
  package enum Content: Equatable, Sendable {
    case scalar
    case object(interfaces: [Name], fields: [FieldDefinition])
    case interface(interfaces: [Name], fields: [FieldDefinition])
    case union(members: [Name])
    case enumeration(values: [EnumValueDefinition])
    case inputObject(fields: [InputValueDefinition])
  }

  /// Nil for extensions.
  package var description: StringValue?
  package var name: Name
  package var directives: [Directive]
  package var content: Content
  /// The description's first byte, or the keyword's.
  package var location: Location

  package init(
    description: StringValue? = nil, name: Name, directives: [Directive] = [], content: Content,
    location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.directives = directives
    self.content = content
    self.location = location
  }

  /// The kind of the type.
  package var kind: TypeKind {
    switch content {
    case .scalar: .scalar
    case .object: .object
    case .interface: .interface
    case .union: .union
    case .enumeration: .enumeration
    case .inputObject: .inputObject
    }
  }

  /// The output fields of an object or interface; empty for other kinds.
  package var fields: [FieldDefinition] {
    switch content {
    case .object(_, let fields), .interface(_, let fields): fields
    case .scalar, .union, .enumeration, .inputObject: []
    }
  }

  /// The interfaces an object or interface implements; empty for other kinds.
  package var interfaces: [Name] {
    switch content {
    case .object(let interfaces, _), .interface(let interfaces, _): interfaces
    case .scalar, .union, .enumeration, .inputObject: []
    }
  }

  /// The directive called `name`, or nil when it is not applied. The first one for repeatable directives.
  package func directive(_ name: String) -> Directive? {
    directives.first { $0.name.text == name }
  }
}

/// The six kinds of named types (section 3.4 "Types").
package enum TypeKind: String, Hashable, Sendable, CaseIterable {
  case scalar = "SCALAR"
  case object = "OBJECT"
  case interface = "INTERFACE"
  case union = "UNION"
  case enumeration = "ENUM"
  case inputObject = "INPUT_OBJECT"
}

/// A field of an object or interface type.
package struct FieldDefinition: Equatable, Sendable {
  package var description: StringValue?
  package var name: Name
  package var arguments: [InputValueDefinition]
  package var type: TypeReference
  package var directives: [Directive]
  package var location: Location

  package init(
    description: StringValue? = nil, name: Name, arguments: [InputValueDefinition] = [], type: TypeReference,
    directives: [Directive] = [], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.type = type
    self.directives = directives
    self.location = location
  }

  /// The directive called `name`, or nil when it is not applied. The first one for repeatable directives.
  package func directive(_ name: String) -> Directive? {
    directives.first { $0.name.text == name }
  }
}

/// An argument of a field or directive, or a field of an input object.
package struct InputValueDefinition: Equatable, Sendable {
  package var description: StringValue?
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

/// A value of an enum type.
package struct EnumValueDefinition: Equatable, Sendable {
  package var description: StringValue?
  package var name: Name
  package var directives: [Directive]
  package var location: Location

  package init(
    description: StringValue? = nil, name: Name, directives: [Directive] = [], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.directives = directives
    self.location = location
  }
}

/// The definition of a directive (section 3.13 "Directives").
package struct DirectiveDefinition: Equatable, Sendable {
  package var description: StringValue?
  package var name: Name
  package var arguments: [InputValueDefinition]
  package var isRepeatable: Bool
  package var locations: [DirectiveLocation]
  package var location: Location

  package init(
    description: StringValue? = nil, name: Name, arguments: [InputValueDefinition] = [], isRepeatable: Bool = false,
    locations: [DirectiveLocation], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.location = location
  }
}

/// Where a directive may stand.
package enum DirectiveLocation: String, Hashable, Sendable, CaseIterable {
  case query = "QUERY"
  case mutation = "MUTATION"
  case subscription = "SUBSCRIPTION"
  case field = "FIELD"
  case fragmentDefinition = "FRAGMENT_DEFINITION"
  case fragmentSpread = "FRAGMENT_SPREAD"
  case inlineFragment = "INLINE_FRAGMENT"
  case variableDefinition = "VARIABLE_DEFINITION"
  case schema = "SCHEMA"
  case scalar = "SCALAR"
  case object = "OBJECT"
  case fieldDefinition = "FIELD_DEFINITION"
  case argumentDefinition = "ARGUMENT_DEFINITION"
  case interface = "INTERFACE"
  case union = "UNION"
  case enumeration = "ENUM"
  case enumValue = "ENUM_VALUE"
  case inputObject = "INPUT_OBJECT"
  case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
