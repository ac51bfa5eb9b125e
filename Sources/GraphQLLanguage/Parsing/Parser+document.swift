extension Parser {
  /// Document: one or more definitions.
  mutating func document() throws(SyntaxError) -> Document {
    var definitions: [Definition] = []
    repeat { definitions.append(try definition()) } while token.kind != .end
    return Document(definitions: definitions, sourceName: lexer.sourceName)
  }

  private mutating func definition() throws(SyntaxError) -> Definition {
    if token.kind == .braceLeft {
      let location = token.location
      return .operation(
        OperationDefinition(kind: .query, selectionSet: try selectionSet(), location: location))
    }
    let first = token
    let description = try description()
    guard token.kind == .name else {
      if description != nil, token.kind == .braceLeft {
        throw error("Unexpected description, descriptions are not supported on shorthand queries.", at: first)
      }
      throw unexpected(token)
    }
    let location = first.location
    let keyword = lexer.text(token)
    if let kind = OperationKind(rawValue: keyword) {
      return .operation(try operation(kind, description: description, location: location))
    }
    switch keyword {
    case "fragment": return .fragment(try fragment(description: description, location: location))
    case "extend":
      guard description == nil else {
        throw misplacedDescription(first)
      }
      return try typeSystemExtension(location: location)
    default:
      guard let definition = try typeSystemDefinition(description: description, location: location) else {
        throw description == nil ? unexpected(token) : misplacedDescription(first)
      }
      return definition
    }
  }

  private func misplacedDescription(_ token: Token) -> SyntaxError {
    error("Unexpected description, only GraphQL definitions support descriptions.", at: token)
  }

  /// Description: an optional string in front of a definition.
  mutating func description() throws(SyntaxError) -> StringValue? {
    guard token.kind == .string || token.kind == .blockString else { return nil }
    return try stringValue()
  }

  mutating func stringValue() throws(SyntaxError) -> StringValue {
    let value = StringValue(
      try lexer.stringText(token), isBlock: token.kind == .blockString, location: token.location)
    try advance()
    return value
  }

  private mutating func operation(
    _ kind: OperationKind, description: StringValue?, location: Location
  ) throws(SyntaxError) -> OperationDefinition {
    try advance()
    let name = token.kind == .name ? try name() : nil
    let variables = try optionalMany(.parenthesisLeft, .parenthesisRight) { parser throws(SyntaxError) in
      try parser.variableDefinition()
    }
    let directives = try directives(isConstant: false)
    return OperationDefinition(
      description: description, kind: kind, name: name, variables: variables, directives: directives,
      selectionSet: try selectionSet(), location: location)
  }

  private mutating func variableDefinition() throws(SyntaxError) -> VariableDefinition {
    let location = token.location
    let description = try description()
    try expect(.dollar)
    let name = try name()
    try expect(.colon)
    let type = try typeReference()
    let defaultValue = try take(.equals) ? try value(isConstant: true) : nil
    return VariableDefinition(
      description: description, name: name, type: type, defaultValue: defaultValue,
      directives: try directives(isConstant: true), location: location)
  }

  private mutating func fragment(
    description: StringValue?, location: Location
  ) throws(SyntaxError) -> FragmentDefinition {
    try advance()
    if isKeyword("on") { throw unexpected(token) }
    let name = try name()
    try expectKeyword("on")
    let typeCondition = try self.name()
    let directives = try directives(isConstant: false)
    return FragmentDefinition(
      description: description, name: name, typeCondition: typeCondition, directives: directives,
      selectionSet: try selectionSet(), location: location)
  }
}
