extension Parser {
  /// Value: constants may not hold variables.
  mutating func value(isConstant: Bool) throws(SyntaxError) -> Value {
    let taken = token
    let location = taken.location
    switch taken.kind {
    case .int:
      try advance()
      return Value(.int(lexer.text(taken)), location: location)
    case .float:
      try advance()
      return Value(.float(lexer.text(taken)), location: location)
    case .string, .blockString:
      return Value(.string(try stringValue()), location: location)
    case .name:
      try advance()
      let text = lexer.text(taken)
      switch text {
      case "true": return Value(.boolean(true), location: location)
      case "false": return Value(.boolean(false), location: location)
      case "null": return Value(.null, location: location)
      default: return Value(.enumeration(text), location: location)
      }
    case .dollar:
      return try variable(isConstant: isConstant)
    case .bracketLeft:
      return try list(isConstant: isConstant)
    case .braceLeft:
      return try object(isConstant: isConstant)
    case .end, .bang, .ampersand, .parenthesisLeft, .parenthesisRight, .spread, .colon, .equals, .at, .bracketRight,
      .pipe, .braceRight:
      throw unexpected(taken)
    }
  }

  private mutating func variable(isConstant: Bool) throws(SyntaxError) -> Value {
    let dollar = try expect(.dollar)
    if isConstant {
      if token.kind == .name {
        throw error("Unexpected variable '$\(lexer.text(token))' in constant value.", at: dollar)
      }
      throw unexpected(dollar)
    }
    return Value(.variable(try name().text), location: dollar.location)
  }

  private mutating func list(isConstant: Bool) throws(SyntaxError) -> Value {
    let location = try expect(.bracketLeft).location
    try enter()
    var values: [Value] = []
    while try !take(.bracketRight) { values.append(try value(isConstant: isConstant)) }
    leave()
    return Value(.list(values), location: location)
  }

  private mutating func object(isConstant: Bool) throws(SyntaxError) -> Value {
    let location = try expect(.braceLeft).location
    try enter()
    var fields: [ObjectField] = []
    while try !take(.braceRight) {
      let name = try name()
      try expect(.colon)
      fields.append(ObjectField(name: name, value: try value(isConstant: isConstant)))
    }
    leave()
    return Value(.object(fields), location: location)
  }

  /// Type: a name or a list, perhaps without null. Lists nest as deep as `WrappedType` can hold.
  mutating func typeReference(lists: Int = 0) throws(SyntaxError) -> TypeReference {
    let location = token.location
    let type: TypeReference
    if try take(.bracketLeft) {
      if lists == WrappedType.maximumLists { throw exceeded(.depth, allowed: lists) }
      let element = try typeReference(lists: lists + 1)
      try expect(.bracketRight)
      type = .list(element, location)
    } else {
      type = .named(try name())
    }
    return try take(.bang) ? .nonNull(type, location) : type
  }
}
