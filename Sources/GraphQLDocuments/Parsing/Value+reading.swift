extension Value {
  /// Value: constants may not hold variables.
  static func read(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> Value {
    let taken = tokens.token
    let location = taken.location
    switch taken.kind {
    case .int:
      try tokens.advance()
      return Value(.int(tokens.text(taken)), location: location)
    case .float:
      try tokens.advance()
      return Value(.float(tokens.text(taken)), location: location)
    case .string, .blockString:
      return Value(.string(try StringValue.read(from: &tokens)), location: location)
    case .name:
      try tokens.advance()
      let text = tokens.text(taken)
      switch text {
      case "true": return Value(.boolean(true), location: location)
      case "false": return Value(.boolean(false), location: location)
      case "null": return Value(.null, location: location)
      default: return Value(.enumeration(text), location: location)
      }
    case .dollar:
      return try variable(from: &tokens, isConstant: isConstant)
    case .bracketLeft:
      return try list(from: &tokens, isConstant: isConstant)
    case .braceLeft:
      return try object(from: &tokens, isConstant: isConstant)
    case .end, .bang, .ampersand, .parenthesisLeft, .parenthesisRight, .spread, .colon, .equals, .at, .bracketRight,
      .pipe, .braceRight:
      throw tokens.unexpected(taken)
    }
  }

  private static func variable(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> Value {
    let dollar = try tokens.expect(.dollar)
    if isConstant {
      if tokens.token.kind == .name {
        throw tokens.error("Unexpected variable '$\(tokens.text(tokens.token))' in constant value.", at: dollar)
      }
      throw tokens.unexpected(dollar)
    }
    return Value(.variable(try tokens.name().text), location: dollar.location)
  }

  private static func list(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> Value {
    let location = try tokens.expect(.bracketLeft).location
    try tokens.enter()
    var values: [Value] = []
    while try !tokens.take(.bracketRight) { values.append(try Value.read(from: &tokens, isConstant: isConstant)) }
    tokens.leave()
    return Value(.list(values), location: location)
  }

  private static func object(from tokens: inout TokenStream, isConstant: Bool) throws(SyntaxError) -> Value {
    let location = try tokens.expect(.braceLeft).location
    try tokens.enter()
    var fields: [ObjectField] = []
    while try !tokens.take(.braceRight) {
      let name = try tokens.name()
      try tokens.expect(.colon)
      fields.append(ObjectField(name: name, value: try Value.read(from: &tokens, isConstant: isConstant)))
    }
    tokens.leave()
    return Value(.object(fields), location: location)
  }
}

extension StringValue {
  /// Description: an optional string in front of a definition.
  static func readDescription(from tokens: inout TokenStream) throws(SyntaxError) -> StringValue? {
    guard tokens.token.kind == .string || tokens.token.kind == .blockString else { return nil }
    return try read(from: &tokens)
  }

  static func read(from tokens: inout TokenStream) throws(SyntaxError) -> StringValue {
    let value = StringValue(
      try tokens.stringText(tokens.token), isBlock: tokens.token.kind == .blockString, location: tokens.token.location)
    try tokens.advance()
    return value
  }
}

extension TypeReference {
  /// Type: a name or a list, perhaps without null. Lists nest as deep as `WrappedType` can hold.
  static func read(from tokens: inout TokenStream, lists: Int = 0) throws(SyntaxError) -> TypeReference {
    let location = tokens.token.location
    let type: TypeReference
    if try tokens.take(.bracketLeft) {
      if lists == WrappedType.maximumLists { throw tokens.exceeded(.depth, allowed: lists) }
      let element = try read(from: &tokens, lists: lists + 1)
      try tokens.expect(.bracketRight)
      type = .list(element, location)
    } else {
      type = .named(try tokens.name())
    }
    return try tokens.take(.bang) ? .nonNull(type, location) : type
  }
}
