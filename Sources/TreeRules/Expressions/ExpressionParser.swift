internal import MartletPatterns

/// Parses one expression. Operators bind as in JavaScript.
struct ExpressionParser {
  private var lexer: RuleLexer
  private var token: RuleToken
  private var expression: Expression
  private let wildcards: [String]
  private let limits: RuleLimits
  private var nesting = 0

  /// - Parameter wildcards: the names `$x` of the path, from the root down.
  static func parse(
    _ source: SourceText, wildcards: [String], limits: RuleLimits
  ) throws(OffsetProblem) -> Expression {
    let text = source.string
    guard text.utf8.count <= limits.expressionBytes else {
      throw OffsetProblem(
        .limit, "the expression is longer than the limit expressionBytes (\(limits.expressionBytes))",
        at: source.offset(of: 0))
    }
    var parser = try ExpressionParser(source, text: text, wildcards: wildcards, limits: limits)
    _ = try parser.conditional()
    guard parser.token.kind == .end else { throw parser.unexpected() }
    return parser.expression
  }

  private init(_ source: SourceText, text: String, wildcards: [String], limits: RuleLimits) throws(OffsetProblem) {
    lexer = RuleLexer(source)
    expression = Expression(source: text, wildcards: wildcards)
    self.wildcards = wildcards
    self.limits = limits
    token = try lexer.next()
  }

  // MARK: Tokens

  private func unexpected() -> OffsetProblem {
    let offset = lexer.source.offset(of: token.range.lowerBound)
    guard token.kind != .end else { return OffsetProblem(.syntax, "the expression ends too early", at: offset) }
    return OffsetProblem(.syntax, "unexpected \(quoted(lexer.source.string(token.range)))", at: offset)
  }

  private mutating func advance() throws(OffsetProblem) {
    token = try lexer.next()
  }

  private mutating func take(_ mark: String) throws(OffsetProblem) -> Bool {
    guard token.kind == .mark(mark) else { return false }
    try advance()
    return true
  }

  private mutating func expect(_ mark: String) throws(OffsetProblem) {
    guard try take(mark) else { throw unexpected() }
  }

  // MARK: Nodes

  private mutating func add(_ part: Expression.Part, from start: Int, to end: Int) throws(OffsetProblem) -> Int {
    let depth = 1 + (part.children.map { expression.nodes[$0].depth }.max() ?? 0)
    try check(depth, at: start)
    expression.nodes.append(.init(part: part, offsets: start..<end, depth: depth))
    return expression.root
  }

  private func check(_ depth: Int, at offset: Int) throws(OffsetProblem) {
    guard depth <= limits.expressionDepth else {
      throw OffsetProblem(
        .limit, "the expression is deeper than the limit expressionDepth (\(limits.expressionDepth))", at: offset)
    }
  }

  private mutating func add(_ part: Expression.Part, from first: Int) throws(OffsetProblem) -> Int {
    let ends = part.children.map { expression.nodes[$0].offsets.upperBound }
    return try add(part, from: expression.nodes[first].offsets.lowerBound, to: ends.max() ?? 0)
  }

  // MARK: Operators

  private mutating func conditional() throws(OffsetProblem) -> Int {
    nesting += 1
    defer { nesting -= 1 }
    try check(nesting, at: lexer.source.offset(of: token.range.lowerBound))
    let test = try chain("||") { parser throws(OffsetProblem) in
      try parser.chain("&&") { parser throws(OffsetProblem) in try parser.binary(0) }
    }
    guard try take("?") else { return test }
    let one = try conditional()
    try expect(":")
    return try add(.conditional(test, one, try conditional()), from: test)
  }

  private mutating func chain(
    _ mark: String, _ operand: (inout ExpressionParser) throws(OffsetProblem) -> Int
  ) throws(OffsetProblem) -> Int {
    var operands = [try operand(&self)]
    while try take(mark) { operands.append(try operand(&self)) }
    return operands.count == 1 ? operands[0] : try add(mark == "&&" ? .and(operands) : .or(operands), from: operands[0])
  }

  private static let levels: [[String: Expression.Operator]] = [
    ["==": .equal, "===": .equal, "!=": .notEqual, "!==": .notEqual],
    ["<": .less, "<=": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual],
    ["+": .add, "-": .subtract],
    ["*": .multiply, "/": .divide, "%": .remainder],
  ]

  private mutating func binary(_ level: Int) throws(OffsetProblem) -> Int {
    guard level < Self.levels.count else { return try unary() }
    var left = try binary(level + 1)
    while case .mark(let mark) = token.kind, let kind = Self.levels[level][mark] {
      try advance()
      left = try add(.binary(kind, left, try binary(level + 1)), from: left)
    }
    return left
  }

  private mutating func unary() throws(OffsetProblem) -> Int {
    let start = lexer.source.offset(of: token.range.lowerBound)
    guard token.kind == .mark("!") || token.kind == .mark("-") else { return try postfix() }
    let isNot = token.kind == .mark("!")
    nesting += 1
    defer { nesting -= 1 }
    try check(nesting, at: start)
    try advance()
    let operand = try unary()
    return try add(
      isNot ? .not(operand) : .negate(operand), from: start, to: expression.nodes[operand].offsets.upperBound)
  }

  // MARK: Values

  private mutating func postfix() throws(OffsetProblem) -> Int {
    var value = try primary()
    while true {
      let start = expression.nodes[value].offsets.lowerBound
      if try take(".") {
        guard case .name(let name) = token.kind else { throw unexpected() }
        let end = lexer.source.offset(of: token.range.upperBound)
        try advance()
        value = try add(.member(value, name), from: start, to: end)
      } else if try take("[") {
        let key = try conditional()
        let end = lexer.source.offset(of: token.range.upperBound)
        try expect("]")
        value = try add(.element(value, key), from: start, to: end)
      } else if try take("(") {
        let (arguments, end) = try list(until: ")")
        value = try add(.call(value, arguments), from: start, to: end)
      } else {
        return value
      }
    }
  }

  /// Elements with commas between them, and the offset after the closing bracket.
  private mutating func list(until mark: String) throws(OffsetProblem) -> ([Int], Int) {
    var elements: [Int] = []
    if token.kind != .mark(mark) {
      repeat { elements.append(try conditional()) } while try take(",")
    }
    let end = lexer.source.offset(of: token.range.upperBound)
    try expect(mark)
    return (elements, end)
  }

  private mutating func primary() throws(OffsetProblem) -> Int {
    let (start, end) = (
      lexer.source.offset(of: token.range.lowerBound), lexer.source.offset(of: token.range.upperBound)
    )
    let part: Expression.Part
    switch token.kind {
    case .int(let value): part = .int(value)
    case .double(let value): part = .double(value)
    case .string(let text): part = .string(text)
    case .name(let name): part = try named(name, at: start)
    case .pattern(let text, let flags):
      expression.patterns.append(try pattern(text, flags, at: start))
      part = .pattern(expression.patterns.count - 1)
    case .mark("("):
      try advance()
      let inner = try conditional()
      try expect(")")
      return inner
    case .mark("["):
      try advance()
      let (elements, end) = try list(until: "]")
      return try add(.list(elements), from: start, to: end)
    case .mark, .end: throw unexpected()
    }
    try advance()
    return try add(part, from: start, to: end)
  }

  private func named(_ name: String, at offset: Int) throws(OffsetProblem) -> Expression.Part {
    switch name {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      if let index = wildcards.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return .wildcard(index) }
      if let variable = Expression.Variable(rawValue: name) { return .variable(variable) }
      let hint = name.utf8.first == UInt8(ascii: "$") ? "; no key of the path has this name" : ""
      throw OffsetProblem(.unknownName, "the variable \(name) does not exist\(hint)", at: offset)
    }
  }

  private func pattern(_ text: String, _ flags: String, at offset: Int) throws(OffsetProblem) -> Pattern {
    guard flags.isEmpty || flags == "i" else {
      throw OffsetProblem(.pattern, "the flags \(flags) are not supported: only i is", at: offset)
    }
    do {
      return try Pattern(text, ignoresCase: flags == "i", limits: limits)
    } catch {
      throw OffsetProblem(
        error.isLimit ? .limit : .pattern, error.message, at: offset + 1 + error.index)
    }
  }
}
