extension Document {
  /// Document: one or more definitions.
  static func read(from tokens: inout TokenStream) throws(SyntaxError) -> Document {
    var definitions: [Definition] = []
    repeat { definitions.append(try Definition.read(from: &tokens)) } while tokens.token.kind != .end
    return Document(definitions: definitions, sourceName: tokens.sourceName)
  }
}

extension Definition {
  static func read(from tokens: inout TokenStream) throws(SyntaxError) -> Definition {
    if tokens.token.kind == .braceLeft {
      let location = tokens.token.location
      return .operation(
        OperationDefinition(kind: .query, selectionSet: try SelectionSet.read(from: &tokens), location: location))
    }
    let first = tokens.token
    let description = try StringValue.readDescription(from: &tokens)
    guard tokens.token.kind == .name else {
      if description != nil, tokens.token.kind == .braceLeft {
        throw tokens.error("Unexpected description, descriptions are not supported on shorthand queries.", at: first)
      }
      throw tokens.unexpected(tokens.token)
    }
    let location = first.location
    let keyword = tokens.text(tokens.token)
    if let kind = OperationKind(rawValue: keyword) {
      return .operation(try OperationDefinition.read(kind, from: &tokens, description: description, location: location))
    }
    switch keyword {
    case "fragment":
      return .fragment(try FragmentDefinition.read(from: &tokens, description: description, location: location))
    case "extend":
      guard description == nil else {
        throw tokens.misplacedDescription(first)
      }
      return try typeSystemExtension(from: &tokens, location: location)
    default:
      guard let definition = try typeSystemDefinition(from: &tokens, description: description, location: location)
      else {
        throw description == nil ? tokens.unexpected(tokens.token) : tokens.misplacedDescription(first)
      }
      return definition
    }
  }
}

extension TokenStream {
  fileprivate func misplacedDescription(_ token: Token) -> SyntaxError {
    error("Unexpected description, only GraphQL definitions support descriptions.", at: token)
  }
}

extension OperationDefinition {
  fileprivate static func read(
    _ kind: OperationKind, from tokens: inout TokenStream, description: StringValue?, location: Location
  ) throws(SyntaxError) -> OperationDefinition {
    try tokens.advance()
    let name = tokens.token.kind == .name ? try tokens.name() : nil
    let variables = try tokens.optionalMany(.parenthesisLeft, .parenthesisRight) { tokens throws(SyntaxError) in
      try VariableDefinition.read(from: &tokens)
    }
    let directives = try Directive.readAll(from: &tokens, isConstant: false)
    return OperationDefinition(
      description: description, kind: kind, name: name, variables: variables, directives: directives,
      selectionSet: try SelectionSet.read(from: &tokens), location: location)
  }
}

extension VariableDefinition {
  fileprivate static func read(from tokens: inout TokenStream) throws(SyntaxError) -> VariableDefinition {
    let location = tokens.token.location
    let description = try StringValue.readDescription(from: &tokens)
    try tokens.expect(.dollar)
    let name = try tokens.name()
    try tokens.expect(.colon)
    let type = try TypeReference.read(from: &tokens)
    let defaultValue = try tokens.take(.equals) ? try Value.read(from: &tokens, isConstant: true) : nil
    return VariableDefinition(
      description: description, name: name, type: type, defaultValue: defaultValue,
      directives: try Directive.readAll(from: &tokens, isConstant: true), location: location)
  }
}

extension FragmentDefinition {
  fileprivate static func read(
    from tokens: inout TokenStream, description: StringValue?, location: Location
  ) throws(SyntaxError) -> FragmentDefinition {
    try tokens.advance()
    if tokens.isKeyword("on") { throw tokens.unexpected(tokens.token) }
    let name = try tokens.name()
    try tokens.expectKeyword("on")
    let typeCondition = try tokens.name()
    let directives = try Directive.readAll(from: &tokens, isConstant: false)
    return FragmentDefinition(
      description: description, name: name, typeCondition: typeCondition, directives: directives,
      selectionSet: try SelectionSet.read(from: &tokens), location: location)
  }
}
