extension SelectionSet {
  /// SelectionSet: one or more selections between braces.
  static func read(from tokens: inout TokenStream) throws(SyntaxError) -> SelectionSet {
    let location = try tokens.expect(.braceLeft).location
    try tokens.enter()
    var selections: [Selection] = []
    selections.reserveCapacity(4)
    repeat {
      if tokens.token.kind == .spread {
        selections.append(try Selection.readFragment(from: &tokens))
      } else {
        selections.append(.field(try Field.read(from: &tokens)))
      }
    } while tokens.token.kind != .braceRight
    try tokens.advance()
    tokens.leave()
    return SelectionSet(selections, location: location)
  }
}

extension Field {
  fileprivate static func read(from tokens: inout TokenStream) throws(SyntaxError) -> Field {
    var name = try tokens.name()
    var alias: Name?
    if tokens.token.kind == .colon {
      try tokens.advance()
      alias = name
      name = try tokens.name()
      try tokens.countAlias()
    }
    try tokens.countField()
    let arguments = tokens.token.kind == .parenthesisLeft ? try Argument.readAll(from: &tokens, isConstant: false) : []
    let directives = tokens.token.kind == .at ? try Directive.readAll(from: &tokens, isConstant: false) : []
    let selectionSet = tokens.token.kind == .braceLeft ? try SelectionSet.read(from: &tokens) : nil
    return Field(
      alias: alias, name: name, arguments: arguments, directives: directives, selectionSet: selectionSet)
  }
}

extension Selection {
  /// A spread or an inline fragment.
  fileprivate static func readFragment(from tokens: inout TokenStream) throws(SyntaxError) -> Selection {
    let location = tokens.token.location
    try tokens.advance()
    let isCondition = try tokens.takeKeyword("on")
    if !isCondition, tokens.token.kind == .name {
      return .fragmentSpread(
        FragmentSpread(
          name: try tokens.name(), directives: try Directive.readAll(from: &tokens, isConstant: false),
          location: location))
    }
    let typeCondition = isCondition ? try tokens.name() : nil
    let directives = try Directive.readAll(from: &tokens, isConstant: false)
    return .inlineFragment(
      InlineFragment(
        typeCondition: typeCondition, directives: directives, selectionSet: try SelectionSet.read(from: &tokens),
        location: location))
  }
}

extension Argument {
  /// Arguments: one or more between parentheses, or none at all.
  static func readAll(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> [Argument] {
    try tokens.optionalMany(.parenthesisLeft, .parenthesisRight) { tokens throws(SyntaxError) in
      let name = try tokens.name()
      try tokens.expect(.colon)
      return Argument(name: name, value: try Value.read(from: &tokens, isConstant: isConstant))
    }
  }
}

extension Directive {
  /// Directives: any number.
  static func readAll(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> [Directive] {
    guard tokens.token.kind == .at else { return [] }
    var directives: [Directive] = []
    while tokens.token.kind == .at {
      try tokens.countDirective()
      let location = tokens.token.location
      try tokens.advance()
      directives.append(
        Directive(
          name: try tokens.name(), arguments: try Argument.readAll(from: &tokens, isConstant: isConstant),
          location: location))
    }
    return directives
  }
}
