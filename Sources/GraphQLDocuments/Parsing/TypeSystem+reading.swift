extension Definition {
  /// A type system definition whose keyword is the current token; nil when the token is another.
  static func typeSystemDefinition(
    from tokens: inout TokenStream, description: StringValue?, location: Location
  ) throws(SyntaxError) -> Definition? {
    switch tokens.text(tokens.token) {
    case "schema":
      try tokens.advance()
      let directives = try Directive.readAll(from: &tokens, isConstant: true)
      let operationTypes = try tokens.many(.braceLeft, .braceRight) { tokens throws(SyntaxError) in
        try OperationTypeDefinition.read(from: &tokens)
      }
      return .schema(
        SchemaDefinition(
          description: description, directives: directives, operationTypes: operationTypes, location: location))
    case "directive":
      return .directive(try DirectiveDefinition.read(from: &tokens, description: description, location: location))
    default:
      guard let kind = TypeKind(keyword: tokens.text(tokens.token)) else { return nil }
      return .type(try TypeDefinition.read(kind, from: &tokens, description: description, location: location))
    }
  }

  /// An extension: `extend` and what it extends. At least one part must be added (section 3, "Extensions").
  static func typeSystemExtension(from tokens: inout TokenStream, location: Location) throws(SyntaxError) -> Definition
  {
    try tokens.advance()
    if try tokens.takeKeyword("schema") {
      let directives = try Directive.readAll(from: &tokens, isConstant: true)
      let operationTypes = try tokens.optionalMany(.braceLeft, .braceRight) { tokens throws(SyntaxError) in
        try OperationTypeDefinition.read(from: &tokens)
      }
      if directives.isEmpty, operationTypes.isEmpty { throw tokens.unexpected(tokens.token) }
      return .schemaExtension(
        SchemaDefinition(directives: directives, operationTypes: operationTypes, location: location))
    }
    guard tokens.token.kind == .name, let kind = TypeKind(keyword: tokens.text(tokens.token)) else {
      throw tokens.unexpected(tokens.token)
    }
    let type = try TypeDefinition.read(kind, from: &tokens, description: nil, location: location)
    let addsNothing =
      switch type.content {
      case .scalar: true
      case .object(let interfaces, let fields), .interface(let interfaces, let fields):
        interfaces.isEmpty && fields.isEmpty
      case .union(let members): members.isEmpty
      case .enumeration(let values): values.isEmpty
      case .inputObject(let fields): fields.isEmpty
      }
    if addsNothing, type.directives.isEmpty { throw tokens.unexpected(tokens.token) }
    return .typeExtension(type)
  }
}

extension TypeKind {
  /// The kind that a keyword defines; nil for other words.
  fileprivate init?(keyword: String) {
    switch keyword {
    case "scalar": self = .scalar
    case "type": self = .object
    case "interface": self = .interface
    case "union": self = .union
    case "enum": self = .enumeration
    case "input": self = .inputObject
    default: return nil
    }
  }
}

extension OperationTypeDefinition {
  fileprivate static func read(from tokens: inout TokenStream) throws(SyntaxError) -> OperationTypeDefinition {
    let taken = try tokens.expect(.name)
    guard let kind = OperationKind(rawValue: tokens.text(taken)) else { throw tokens.unexpected(taken) }
    try tokens.expect(.colon)
    return OperationTypeDefinition(kind: kind, type: try tokens.name(), location: taken.location)
  }
}

extension TypeDefinition {
  fileprivate static func read(
    _ kind: TypeKind, from tokens: inout TokenStream, description: StringValue?, location: Location
  ) throws(SyntaxError) -> TypeDefinition {
    try tokens.advance()
    let name = try tokens.name()
    let interfaces = kind == .object || kind == .interface ? try implementedInterfaces(from: &tokens) : []
    let directives = try Directive.readAll(from: &tokens, isConstant: true)
    let content: TypeDefinition.Content
    switch kind {
    case .scalar: content = .scalar
    case .object: content = .object(interfaces: interfaces, fields: try FieldDefinition.readAll(from: &tokens))
    case .interface: content = .interface(interfaces: interfaces, fields: try FieldDefinition.readAll(from: &tokens))
    case .union: content = .union(members: try tokens.take(.equals) ? try tokens.names(separatedBy: .pipe) : [])
    case .enumeration: content = .enumeration(values: try EnumValueDefinition.readAll(from: &tokens))
    case .inputObject:
      content = .inputObject(fields: try InputValueDefinition.readAll(from: &tokens, .braceLeft, .braceRight))
    }
    return TypeDefinition(
      description: description, name: name, directives: directives, content: content, location: location)
  }

  private static func implementedInterfaces(from tokens: inout TokenStream) throws(SyntaxError) -> [Name] {
    try tokens.takeKeyword("implements") ? try tokens.names(separatedBy: .ampersand) : []
  }
}

extension FieldDefinition {
  fileprivate static func readAll(from tokens: inout TokenStream) throws(SyntaxError) -> [FieldDefinition] {
    try tokens.optionalMany(.braceLeft, .braceRight) { tokens throws(SyntaxError) in
      let location = tokens.token.location
      let description = try StringValue.readDescription(from: &tokens)
      let name = try tokens.name()
      let arguments = try InputValueDefinition.readAll(from: &tokens, .parenthesisLeft, .parenthesisRight)
      try tokens.expect(.colon)
      let type = try TypeReference.read(from: &tokens)
      return FieldDefinition(
        description: description, name: name, arguments: arguments, type: type,
        directives: try Directive.readAll(from: &tokens, isConstant: true), location: location)
    }
  }
}

extension InputValueDefinition {
  fileprivate static func readAll(
    from tokens: inout TokenStream, _ open: Token.Kind, _ close: Token.Kind
  ) throws(SyntaxError) -> [InputValueDefinition] {
    try tokens.optionalMany(open, close) { tokens throws(SyntaxError) in
      let location = tokens.token.location
      let description = try StringValue.readDescription(from: &tokens)
      let name = try tokens.name()
      try tokens.expect(.colon)
      let type = try TypeReference.read(from: &tokens)
      let defaultValue = try tokens.take(.equals) ? try Value.read(from: &tokens, isConstant: true) : nil
      return InputValueDefinition(
        description: description, name: name, type: type, defaultValue: defaultValue,
        directives: try Directive.readAll(from: &tokens, isConstant: true), location: location)
    }
  }
}

extension EnumValueDefinition {
  fileprivate static func readAll(from tokens: inout TokenStream) throws(SyntaxError) -> [EnumValueDefinition] {
    try tokens.optionalMany(.braceLeft, .braceRight) { tokens throws(SyntaxError) in
      let location = tokens.token.location
      let description = try StringValue.readDescription(from: &tokens)
      let first = tokens.token
      if first.kind == .name {
        let text = tokens.text(first)
        if text == "true" || text == "false" || text == "null" {
          throw tokens.error("Name '\(text)' is reserved and cannot be used for an enum value.", at: first)
        }
      }
      let name = try tokens.name()
      return EnumValueDefinition(
        description: description, name: name, directives: try Directive.readAll(from: &tokens, isConstant: true),
        location: location)
    }
  }
}

extension DirectiveDefinition {
  fileprivate static func read(
    from tokens: inout TokenStream, description: StringValue?, location: Location
  ) throws(SyntaxError) -> DirectiveDefinition {
    try tokens.advance()
    try tokens.expect(.at)
    let name = try tokens.name()
    let arguments = try InputValueDefinition.readAll(from: &tokens, .parenthesisLeft, .parenthesisRight)
    let isRepeatable = try tokens.takeKeyword("repeatable")
    try tokens.expectKeyword("on")
    _ = try tokens.take(.pipe)
    var locations: [DirectiveLocation] = []
    repeat {
      let taken = try tokens.expect(.name)
      guard let place = DirectiveLocation(rawValue: tokens.text(taken)) else { throw tokens.unexpected(taken) }
      locations.append(place)
    } while try tokens.take(.pipe)
    return DirectiveDefinition(
      description: description, name: name, arguments: arguments, isRepeatable: isRepeatable, locations: locations,
      location: location)
  }
}
