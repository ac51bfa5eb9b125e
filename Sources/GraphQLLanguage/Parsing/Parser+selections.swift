extension Parser {
  /// SelectionSet: one or more selections between braces.
  mutating func selectionSet() throws(SyntaxError) -> SelectionSet {
    let location = try expect(.braceLeft).location
    try enter()
    var selections: [Selection] = []
    selections.reserveCapacity(4)
    repeat {
      if token.kind == .spread {
        selections.append(try fragmentSelection())
      } else {
        selections.append(.field(try field()))
      }
    } while token.kind != .braceRight
    try advance()
    leave()
    return SelectionSet(selections, location: location)
  }

  private mutating func field() throws(SyntaxError) -> Field {
    var name = try name()
    var alias: Name?
    if token.kind == .colon {
      try advance()
      alias = name
      name = try self.name()
      try countAlias()
    }
    try countField()
    let arguments = token.kind == .parenthesisLeft ? try arguments(isConstant: false) : []
    let directives = token.kind == .at ? try directives(isConstant: false) : []
    let selectionSet = token.kind == .braceLeft ? try selectionSet() : nil
    return Field(
      alias: alias, name: name, arguments: arguments, directives: directives, selectionSet: selectionSet)
  }

  private mutating func fragmentSelection() throws(SyntaxError) -> Selection {
    let location = token.location
    try advance()
    let isCondition = try takeKeyword("on")
    if !isCondition, token.kind == .name {
      return .fragmentSpread(
        FragmentSpread(name: try name(), directives: try directives(isConstant: false), location: location))
    }
    let typeCondition = isCondition ? try name() : nil
    let directives = try directives(isConstant: false)
    return .inlineFragment(
      InlineFragment(
        typeCondition: typeCondition, directives: directives, selectionSet: try selectionSet(), location: location))
  }

  /// Arguments: one or more between parentheses, or none at all.
  mutating func arguments(isConstant: Bool) throws(SyntaxError) -> [Argument] {
    try optionalMany(.parenthesisLeft, .parenthesisRight) { parser throws(SyntaxError) in
      let name = try parser.name()
      try parser.expect(.colon)
      return Argument(name: name, value: try parser.value(isConstant: isConstant))
    }
  }

  /// Directives: any number.
  mutating func directives(isConstant: Bool) throws(SyntaxError) -> [Directive] {
    guard token.kind == .at else { return [] }
    var directives: [Directive] = []
    while token.kind == .at {
      try countDirective()
      let location = token.location
      try advance()
      directives.append(
        Directive(name: try name(), arguments: try arguments(isConstant: isConstant), location: location))
    }
    return directives
  }
}
