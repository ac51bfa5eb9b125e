import MartletJSONTree

/// Turns a rules file into a rule set and collects what is wrong with it.
struct RuleSetReader {
  private let limits: RuleLimits
  private let lines: LineTable
  private var levels: [RuleSet.Level] = []
  private var rules: [Rule] = []
  private var problems: [RulesProblem] = []

  static func read(_ text: String, _ limits: RuleLimits) throws(RuleSetError) -> RuleSet {
    guard text.utf8.count <= limits.fileBytes else {
      let start = SourcePosition(line: 1, column: 1)
      let message = "the file is larger than the limit fileBytes (\(limits.fileBytes))"
      throw RuleSetError(problems: [RulesProblem(.limit, message, at: start)])
    }
    let scalars = Array(text.unicodeScalars)
    var reader = RuleSetReader(limits, LineTable(scalars))
    reader.read(scalars)
    guard reader.problems.isEmpty else {
      throw RuleSetError(problems: Array(reader.problems.prefix(limits.problems)))
    }
    return RuleSet(levels: reader.levels, rules: reader.rules, lines: reader.lines, limits: limits)
  }

  private init(_ limits: RuleLimits, _ lines: LineTable) {
    self.limits = limits
    self.lines = lines
  }

  private mutating func report(_ problem: OffsetProblem, _ path: String = "") {
    problems.append(problem.located(lines, path: path))
  }

  private mutating func report(_ message: String, at offset: Int, _ path: String = "") {
    report(OffsetProblem(.structure, message, at: offset), path)
  }

  private mutating func read(_ scalars: [Unicode.Scalar]) {
    let file: RulesElement
    do {
      var reader = RulesReader(scalars, limits: limits)
      file = try reader.read()
    } catch {
      return report(error)
    }
    guard case .object(let members, let offset) = file else {
      return report("a rules file is an object with the member \"rules\", not \(file.kind)", at: file.offset)
    }
    for (key, _) in members where key.string != "rules" {
      report("the member \(quoted(key.string)) is not allowed beside \"rules\"", at: key.offset(of: 0))
    }
    guard let top = members.first(where: { $0.key.string == "rules" })?.value else {
      return report("the member \"rules\" is missing", at: offset)
    }
    _ = node(top, path: [], wildcards: [])
  }

  private func text(_ path: [String]) -> String { "/" + path.joined(separator: "/") }

  private mutating func node(_ element: RulesElement, path: [String], wildcards: [String]) -> Int? {
    guard case .object(let members, let offset) = element else {
      report("the rules of a node are an object, not \(element.kind)", at: element.offset, text(path))
      return nil
    }
    guard path.count < limits.levels else {
      let message = "the rules have more levels than the limit levels (\(limits.levels))"
      report(OffsetProblem(.limit, message, at: offset), text(path))
      return nil
    }
    let index = levels.count
    levels.append(.init())
    for (key, value) in members {
      let name = key.string
      switch name.utf8.first {
      case UInt8(ascii: "."): attribute(name, key.offset(of: 0), value, index, path, wildcards)
      case UInt8(ascii: "$"): wildcard(name, key.offset(of: 0), value, index, path, wildcards)
      default: child(key, value, index, path, wildcards)
      }
    }
    return index
  }

  private mutating func child(
    _ key: SourceText, _ value: RulesElement, _ index: Int, _ path: [String], _ wildcards: [String]
  ) {
    let name = key.string
    do {
      let treeKey = try TreeKey(name)
      if let below = node(value, path: path + [name], wildcards: wildcards) { levels[index].children[treeKey] = below }
    } catch {
      let message = "\(quoted(name)) is not a key: 1 to 768 bytes, without control characters and . $ # [ ] /"
      report(message, at: key.offset(of: 0), text(path))
    }
  }

  private mutating func wildcard(
    _ name: String, _ offset: Int, _ value: RulesElement, _ index: Int, _ path: [String], _ wildcards: [String]
  ) {
    let rest = name.unicodeScalars.dropFirst()
    guard !rest.isEmpty, rest.allSatisfy({ RuleLexer.beginsName($0) || RuleLexer.isDigit($0) }) else {
      return report("\(quoted(name)) is not a name: $, letters, digits and _", at: offset, text(path))
    }
    guard !wildcards.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
      return report("\(name) names a key of this path already", at: offset, text(path))
    }
    guard levels[index].wildcard == nil else {
      return report("a node has at most one $name; \(name) is the second", at: offset, text(path))
    }
    levels[index].wildcard = node(value, path: path + [name], wildcards: wildcards + [name])
  }

  private mutating func attribute(
    _ name: String, _ offset: Int, _ value: RulesElement, _ index: Int, _ path: [String], _ wildcards: [String]
  ) {
    if name == ".indexOn" { return indexes(value, index, path) }
    guard let kind = RuleKind.allCases.first(where: { $0.member == name }) else {
      let message = "\(name) does not exist: there are .read, .write, .validate and .indexOn"
      return report(message, at: offset, text(path))
    }
    let rulePath = text(path + [name])
    do {
      let source = try source(value, name)
      let parsed = try ExpressionParser.parse(source, wildcards: wildcards, limits: limits)
      let expression = try TypeChecker.check(parsed, as: kind)
      levels[index].rules[kind] = rules.count
      let position = lines.position(of: source.offset(of: 0))
      rules.append(Rule(kind: kind, path: rulePath, position: position, expression: expression))
    } catch {
      report(error, rulePath)
    }
  }

  private func source(_ value: RulesElement, _ name: String) throws(OffsetProblem) -> SourceText {
    switch value {
    case .string(let text, _): return text
    case .bool(let flag, let offset):
      var text = SourceText(at: offset)
      for scalar in "\(flag)".unicodeScalars { text.append(scalar, at: offset) }
      return text
    case .object, .array, .number, .null:
      throw OffsetProblem(.structure, "\(name) is a boolean or a string, not \(value.kind)", at: value.offset)
    }
  }

  private mutating func indexes(_ value: RulesElement, _ index: Int, _ path: [String]) {
    let elements: [RulesElement]
    switch value {
    case .string: elements = [value]
    case .array(let list, _): elements = list
    case .object, .bool, .number, .null:
      return report(".indexOn is a string or a list of strings, not \(value.kind)", at: value.offset, text(path))
    }
    for element in elements {
      guard case .string(let source, let offset) = element else {
        report("an element of .indexOn is a string, not \(element.kind)", at: element.offset, text(path))
        continue
      }
      let name = source.string
      switch name {
      case ".value": levels[index].indexes.append(.value)
      case ".priority": levels[index].indexes.append(.priority)
      default:
        guard let child = try? TreePath(wire: name), !child.isRoot else {
          report("\(quoted(name)) is neither a child's path nor .value", at: offset, text(path))
          continue
        }
        levels[index].indexes.append(.child(child))
      }
    }
  }
}
