extension Parser {
  /// A type system definition whose keyword is the current token; nil when the token is another.
  mutating func typeSystemDefinition(
    description: StringValue?, location: Location
  ) throws(SyntaxError) -> Definition? {
    switch lexer.text(token) {
    case "schema":
      try advance()
      let directives = try directives(isConstant: true)
      let operationTypes = try many(.braceLeft, .braceRight) { parser throws(SyntaxError) in
        try parser.operationTypeDefinition()
      }
      return .schema(
        SchemaDefinition(
          description: description, directives: directives, operationTypes: operationTypes, location: location))
    case "directive":
      return .directive(try directiveDefinition(description: description, location: location))
    default:
      guard let kind = typeKeyword() else { return nil }
      return .type(try typeDefinition(kind, description: description, location: location))
    }
  }

  /// An extension: `extend` and what it extends. At least one part must be added (section 3, "Extensions").
  mutating func typeSystemExtension(location: Location) throws(SyntaxError) -> Definition {
    try advance()
    if try takeKeyword("schema") {
      let directives = try directives(isConstant: true)
      let operationTypes = try optionalMany(.braceLeft, .braceRight) { parser throws(SyntaxError) in
        try parser.operationTypeDefinition()
      }
      if directives.isEmpty, operationTypes.isEmpty { throw unexpected(token) }
      return .schemaExtension(
        SchemaDefinition(directives: directives, operationTypes: operationTypes, location: location))
    }
    guard token.kind == .name, let kind = typeKeyword() else { throw unexpected(token) }
    let type = try typeDefinition(kind, description: nil, location: location)
    let addsNothing =
      switch type.content {
      case .scalar: true
      case .object(let interfaces, let fields), .interface(let interfaces, let fields):
        interfaces.isEmpty && fields.isEmpty
      case .union(let members): members.isEmpty
      case .enumeration(let values): values.isEmpty
      case .inputObject(let fields): fields.isEmpty
      }
    if addsNothing, type.directives.isEmpty { throw unexpected(token) }
    return .typeExtension(type)
  }

  private func typeKeyword() -> TypeKind? {
    switch lexer.text(token) {
    case "scalar": .scalar
    case "type": .object
    case "interface": .interface
    case "union": .union
    case "enum": .enumeration
    case "input": .inputObject
    default: nil
    }
  }

  private mutating func operationTypeDefinition() throws(SyntaxError) -> OperationTypeDefinition {
    let taken = try expect(.name)
    guard let kind = OperationKind(rawValue: lexer.text(taken)) else { throw unexpected(taken) }
    try expect(.colon)
    return OperationTypeDefinition(kind: kind, type: try name(), location: taken.location)
  }

  private mutating func typeDefinition(
    _ kind: TypeKind, description: StringValue?, location: Location
  ) throws(SyntaxError) -> TypeDefinition {
    try advance()
    let name = try name()
    let interfaces = kind == .object || kind == .interface ? try implementedInterfaces() : []
    let directives = try directives(isConstant: true)
    let content: TypeDefinition.Content
    switch kind {
    case .scalar: content = .scalar
    case .object: content = .object(interfaces: interfaces, fields: try fieldDefinitions())
    case .interface: content = .interface(interfaces: interfaces, fields: try fieldDefinitions())
    case .union: content = .union(members: try take(.equals) ? try separated(by: .pipe) : [])
    case .enumeration: content = .enumeration(values: try enumValues())
    case .inputObject: content = .inputObject(fields: try inputValues(.braceLeft, .braceRight))
    }
    return TypeDefinition(
      description: description, name: name, directives: directives, content: content, location: location)
  }

  private mutating func implementedInterfaces() throws(SyntaxError) -> [Name] {
    try takeKeyword("implements") ? try separated(by: .ampersand) : []
  }

  /// One or more names with `separator` between them and perhaps in front.
  private mutating func separated(by separator: Token.Kind) throws(SyntaxError) -> [Name] {
    _ = try take(separator)
    var names: [Name] = []
    repeat { names.append(try name()) } while try take(separator)
    return names
  }

  private mutating func fieldDefinitions() throws(SyntaxError) -> [FieldDefinition] {
    try optionalMany(.braceLeft, .braceRight) { parser throws(SyntaxError) in
      let location = parser.token.location
      let description = try parser.description()
      let name = try parser.name()
      let arguments = try parser.inputValues(.parenthesisLeft, .parenthesisRight)
      try parser.expect(.colon)
      let type = try parser.typeReference()
      return FieldDefinition(
        description: description, name: name, arguments: arguments, type: type,
        directives: try parser.directives(isConstant: true), location: location)
    }
  }

  private mutating func inputValues(
    _ open: Token.Kind, _ close: Token.Kind
  ) throws(SyntaxError) -> [InputValueDefinition] {
    try optionalMany(open, close) { parser throws(SyntaxError) in
      let location = parser.token.location
      let description = try parser.description()
      let name = try parser.name()
      try parser.expect(.colon)
      let type = try parser.typeReference()
      let defaultValue = try parser.take(.equals) ? try parser.value(isConstant: true) : nil
      return InputValueDefinition(
        description: description, name: name, type: type, defaultValue: defaultValue,
        directives: try parser.directives(isConstant: true), location: location)
    }
  }

  private mutating func enumValues() throws(SyntaxError) -> [EnumValueDefinition] {
    try optionalMany(.braceLeft, .braceRight) { parser throws(SyntaxError) in
      let location = parser.token.location
      let description = try parser.description()
      let first = parser.token
      if first.kind == .name {
        let text = parser.lexer.text(first)
        if text == "true" || text == "false" || text == "null" {
          throw parser.error("Name '\(text)' is reserved and cannot be used for an enum value.", at: first)
        }
      }
      let name = try parser.name()
      return EnumValueDefinition(
        description: description, name: name, directives: try parser.directives(isConstant: true),
        location: location)
    }
  }

  private mutating func directiveDefinition(
    description: StringValue?, location: Location
  ) throws(SyntaxError) -> DirectiveDefinition {
    try advance()
    try expect(.at)
    let name = try name()
    let arguments = try inputValues(.parenthesisLeft, .parenthesisRight)
    let isRepeatable = try takeKeyword("repeatable")
    try expectKeyword("on")
    _ = try take(.pipe)
    var locations: [DirectiveLocation] = []
    repeat {
      let taken = try expect(.name)
      guard let place = DirectiveLocation(rawValue: lexer.text(taken)) else { throw unexpected(taken) }
      locations.append(place)
    } while try take(.pipe)
    return DirectiveDefinition(
      description: description, name: name, arguments: arguments, isRepeatable: isRepeatable, locations: locations,
      location: location)
  }
}
