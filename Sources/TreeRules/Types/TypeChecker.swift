/// Checks the types of an expression's parts and resolves its methods.
///
/// What the data decides stays open until evaluation: claims of `auth`, values of snapshots. A condition does not stay
/// open: `!`, `&&`, `||`, `?` and the rule itself take what is certainly a boolean.
struct TypeChecker {
  private var expression: Expression
  private let kind: RuleKind
  private var types: [RuleType] = []

  /// - Returns: the expression with its methods resolved.
  static func check(_ expression: Expression, as kind: RuleKind) throws(OffsetProblem) -> Expression {
    var checker = TypeChecker(expression: expression, kind: kind)
    for id in expression.nodes.indices { checker.types.append(try checker.type(of: id)) }
    guard checker.types[expression.root] == .boolean else {
      throw checker.problem(
        "the rule is not a boolean but \(checker.name(expression.root))", at: expression.root)
    }
    return checker.expression
  }

  private init(expression: Expression, kind: RuleKind) {
    self.expression = expression
    self.kind = kind
  }

  private func problem(_ message: String, at id: Int, _ code: RulesProblem.Code = .type) -> OffsetProblem {
    OffsetProblem(code, message, at: expression.nodes[id].offsets.lowerBound)
  }

  /// The type as an error names it.
  private func name(_ id: Int) -> String {
    types[id].isOpen ? "a value whose type is known at evaluation" : types[id].name
  }

  // MARK: Parts

  private mutating func type(of id: Int) throws(OffsetProblem) -> RuleType {
    switch expression.nodes[id].part {
    case .null: return .null
    case .bool: return .boolean
    case .int, .double: return .number
    case .string, .wildcard: return .string
    case .pattern: return .pattern
    case .variable(let variable): return try type(of: variable, at: id)
    case .queryValue(let member): return member.type
    case .list(let elements): return try list(elements)
    case .not(let operand):
      try require(operand, .boolean, "the operand of ! is")
      return .boolean
    case .negate(let operand):
      try allow(operand, [.number], "the operand of - is")
      return .number
    case .and(let operands), .or(let operands):
      let mark = if case .and = expression.nodes[id].part { "&&" } else { "||" }
      for (index, operand) in operands.enumerated() {
        try require(operand, .boolean, "the \(index == 0 ? "left" : "right") operand of \(mark) is")
      }
      return .boolean
    case .conditional(let test, let one, let two):
      try require(test, .boolean, "the condition of ? is")
      return conditional(types[one], types[two])
    case .binary(let kind, let left, let right): return try binary(kind, left, right)
    case .member(let object, let name): return try member(name, of: object, at: id)
    case .element(let object, let key): return try element(key, of: object, at: id)
    case .call(let callee, let arguments): return try call(callee, arguments, at: id)
    case .invoke(_, let method, _): return method.result
    }
  }

  private func type(of variable: Expression.Variable, at id: Int) throws(OffsetProblem) -> RuleType {
    switch variable {
    case .auth: return .any
    case .now: return .number
    case .root, .data: return .snapshot
    case .newData:
      guard kind != .read else { throw problem("newData does not exist in .read rules", at: id, .unknownName) }
      return .snapshot
    case .query:
      guard kind == .read else { throw problem("query exists in .read rules only", at: id, .unknownName) }
      return .query
    }
  }

  private func list(_ elements: [Int]) throws(OffsetProblem) -> RuleType {
    for element in elements { try allow(element, [.string], "an element of a list is") }
    return .list
  }

  private func conditional(_ one: RuleType, _ two: RuleType) -> RuleType {
    if one == two { return one }
    return one.isPrimitive && two.isPrimitive ? .primitive : .any
  }

  /// The type is certain to be `type`.
  private func require(_ id: Int, _ type: RuleType, _ what: String) throws(OffsetProblem) {
    guard types[id] == type else { throw problem("\(what) not \(type.name) but \(name(id))", at: id) }
  }

  /// The type is one of `allowed`, or open.
  private func allow(_ id: Int, _ allowed: [RuleType], _ what: String) throws(OffsetProblem) {
    guard allowed.contains(types[id]) || types[id].isOpen else {
      let names = allowed.map(\.name)
      let list =
        names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
      throw problem("\(what) not \(list) but \(name(id))", at: id)
    }
  }

  private func binary(_ kind: Expression.Operator, _ left: Int, _ right: Int) throws(OffsetProblem) -> RuleType {
    let allowed: [RuleType] =
      switch kind {
      case .equal, .notEqual: [.null, .boolean, .number, .string]
      case .less, .lessOrEqual, .greater, .greaterOrEqual: [.null, .number, .string]
      case .add: [.number, .string]
      case .subtract, .multiply, .divide, .remainder: [.number]
      }
    try allow(left, allowed, "the left operand of \(kind.rawValue) is")
    try allow(right, allowed, "the right operand of \(kind.rawValue) is")
    switch kind {
    case .equal, .notEqual: return .boolean
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard types[left] == types[right] || types[left].isOpen || types[right].isOpen else {
        throw problem(
          "the operands of \(kind.rawValue) are of different types: \(name(left)) and \(name(right))", at: left)
      }
      return .boolean
    case .add:
      if types[left] == .string || types[right] == .string { return .string }
      return types[left] == .number && types[right] == .number ? .number : .primitive
    case .subtract, .multiply, .divide, .remainder: return .number
    }
  }

  // MARK: Members and calls

  private mutating func member(_ name: String, of object: Int, at id: Int) throws(OffsetProblem) -> RuleType {
    switch types[object] {
    case .any: return .any
    case .query:
      guard let member = QueryMember(rawValue: name) else {
        throw problem("query has no member \(name)", at: id, .unknownName)
      }
      expression.nodes[id].part = .queryValue(member)
      return member.type
    case .snapshot:
      guard let method = Method(rawValue: name), !method.isOfStrings else {
        throw problem("a snapshot has no method \(name)", at: id, .unknownName)
      }
      return .method
    case .string, .primitive:
      if name == "length" { return .number }
      guard Self.stringMethod(name) != nil else {
        throw problem("a string has no member \(name)", at: id, .unknownName)
      }
      return .method
    case .null, .boolean, .number, .pattern, .list, .method:
      throw problem("\(types[object].name) has no member \(name)", at: id, .unknownName)
    }
  }

  private static func stringMethod(_ name: String) -> Method? {
    Method(rawValue: name).flatMap { $0.isOfStrings ? $0 : nil }
  }

  /// `x["name"]` is `x.name`; another key than a literal reads a claim.
  private mutating func element(_ key: Int, of object: Int, at id: Int) throws(OffsetProblem) -> RuleType {
    if types[object] == .any {
      try allow(key, [.string, .number], "the key is")
      if case .string(let name) = expression.nodes[key].part { expression.nodes[id].part = .member(object, name) }
      return .any
    }
    guard case .string(let name) = expression.nodes[key].part else {
      throw problem("only values of auth have computed members", at: id)
    }
    expression.nodes[id].part = .member(object, name)
    return try member(name, of: object, at: id)
  }

  private mutating func call(_ callee: Int, _ arguments: [Int], at id: Int) throws(OffsetProblem) -> RuleType {
    guard case .member(let receiver, let name) = expression.nodes[callee].part,
      types[callee] == .method || types[callee] == .any
    else { throw problem("what is called is not a method", at: callee) }
    guard let method = types[receiver] == .snapshot ? Method(rawValue: name) : Self.stringMethod(name) else {
      throw problem("a string has no method \(name)", at: id, .unknownName)
    }
    try check(arguments, of: method, at: id)
    expression.nodes[id].part = .invoke(receiver, method, arguments)
    return method.result
  }

  private func check(_ arguments: [Int], of method: Method, at id: Int) throws(OffsetProblem) {
    if method == .hasChildren, arguments.isEmpty { return }
    let expected = method.arguments
    guard arguments.count == expected.count else {
      let count =
        expected.isEmpty ? "no argument" : expected.count == 1 ? "one argument" : "\(expected.count) arguments"
      throw problem("\(method.rawValue) takes \(count), not \(arguments.count)", at: id)
    }
    for (argument, type) in zip(arguments, expected) {
      let what = "the argument of \(method.rawValue) is"
      if type == .string { try allow(argument, [.string], what) } else { try require(argument, type, what) }
      if type == .list, case .list(let elements) = expression.nodes[argument].part, elements.isEmpty {
        throw problem("the list of hasChildren is empty", at: argument)
      }
      if type == .pattern, case .pattern = expression.nodes[argument].part { continue }
      if type == .pattern { throw problem("the argument of matches is not a literal", at: argument) }
    }
  }
}
