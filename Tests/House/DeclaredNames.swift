/// What one Swift file declares, and which names it uses.
struct DeclaredNames {
  enum Access { case file, module, package, elsewhere }

  struct Declaration {
    let name: String
    let kind: String
    let access: Access
    let line: Int
    /// Whether writing it runs code: a computed or observed property.
    let hasAccessors: Bool
    /// A case of an enum whose values come from outside too.
    let isRaw: Bool
  }

  private(set) var declarations: [Declaration] = []
  /// Requirements of the protocols that the file declares.
  private(set) var requirements: Set<String> = []
  /// Names that are read, called or named, not only by the function that has the name.
  private(set) var read: Set<String> = []
  /// Names of `read` that can be a function's: they are called, or passed on.
  private(set) var called: Set<String> = []
  /// Names that are assigned to.
  private(set) var written: Set<String> = []
  /// Names of cases that are made, and not matched alone.
  private(set) var made: Set<String> = []
  /// Names that follow a point.
  private(set) var members: Set<String> = []
  /// Names between two points: what is looked for is behind them.
  private(set) var passed: Set<String> = []
  /// Types that the file declares at its left margin.
  private(set) var topLevelTypes: Set<String> = []
  /// Conformances that extensions declare.
  private(set) var conformances: [(type: String, to: String)] = []
  /// Types of properties, by the properties' names.
  private(set) var propertyTypes: [(name: String, type: String)] = []

  private static let kinds: Set<String> = [
    "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias",
  ]
  /// Protocols whose conformances the compiler may write.
  private static let synthesizing: Set<String> = ["Equatable", "Hashable", "Codable", "Encodable", "Decodable"]
  private static let types: Set<String> = ["struct", "class", "enum", "actor", "protocol", "extension"]
  private static let rawTypes: Set<String> = [
    "String", "Int", "UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32", "Int64", "Character", "CodingKey",
    "CaseIterable",
  ]

  /// An enclosing type.
  private struct Scope {
    var kind: String
    var access: Access
    var isRaw: Bool
    /// Whether the compiler writes code that reads all stored properties.
    var isSynthesized: Bool
  }

  private var places: [SwiftTokens.Place]
  /// The open braces: those of a type, or nil for others.
  private var braces: [Scope?] = []
  /// Types whose braces are still to come, by the braces' positions.
  private var opening: [Int: Scope] = [:]
  /// The functions whose bodies are open, with the number of braces around each body.
  private var functions: [(name: String, depth: Int)] = []
  /// Functions whose bodies are still to come, by the positions of the bodies' braces.
  private var bodies: [Int: String] = [:]
  /// Names that are used in functions of the same name.
  private var inside: Set<String> = []
  /// Positions of names that are assigned to as parts of a tuple.
  private var assignedParts: Set<Int> = []
  private var scope: Scope? { braces.last ?? nil }
  /// Whether what is read is the pattern of a `case`.
  private var isPattern = false
  /// Positions of the names of cases.
  private var caseNames: Set<Int> = []

  /// The names of the files of the sources, read once for all tests.
  private static let ofSources = Dictionary(
    uniqueKeysWithValues: Repository.current.files(under: "Sources", extensions: ["swift"])
      .map { ($0.path, DeclaredNames($0.text)) })

  /// The names of a file of the sources, or of a test's own.
  static func of(_ file: Repository.File) -> DeclaredNames { ofSources[file.path] ?? DeclaredNames(file.text) }

  init(_ text: String) {
    places = SwiftTokens(text).places
    var index = 0
    while index < places.count {
      if let word = places[index].token.word { read(word, at: index) } else { symbol(at: index) }
      index += 1
    }
    places = []
    // A function that only calls itself is not used; one that its namesake calls is.
    for name in inside where declarations.count(where: { $0.name == name }) > 1 {
      read.insert(name)
      called.insert(name)
    }
  }

  private func token(_ index: Int) -> SwiftTokens.Token? { places.indices.contains(index) ? places[index].token : nil }

  private func word(_ index: Int) -> String? { token(index)?.word }

  private func symbol(_ index: Int) -> Character? {
    if case .symbol(let byte)? = token(index) { Character(UnicodeScalar(byte)) } else { nil }
  }

  private mutating func symbol(at index: Int) {
    switch symbol(index) {
    case ":", "=": isPattern = false
    case "{":
      if let name = bodies[index] { functions.append((name, braces.count)) }
      braces.append(opening[index])
    case "}":
      _ = braces.popLast()
      if let last = functions.last, last.depth == braces.count { functions.removeLast() }
    case "(" where beginsStatement(index): noteTuple(at: index)
    default: break
    }
  }

  private func isFirst(_ index: Int) -> Bool { index == 0 || places[index - 1].line != places[index].line }

  private mutating func read(_ name: String, at index: Int) {
    let before = word(index - 1)
    guard !caseNames.contains(index) else { return }
    if let before, Self.kinds.contains(before) || before == "extension", symbol(index - 2) != "." {
      return declare(name, kind: before, at: index)
    }
    if name == "case" {
      if let first = word(index + 1), first != "let", first != "var", declaresCases {
        return declareCases(after: index)
      }
      isPattern = true
      return
    }
    if name == "where" || name == "in" { isPattern = false }
    note(name, at: index)
  }

  // MARK: Uses

  private mutating func note(_ name: String, at index: Int) {
    let isMember = symbol(index - 1) == "."
    if isMember {
      members.insert(name)
      if symbol(index + 1) == "." || (symbol(index + 1) == "?" && symbol(index + 2) == ".") { passed.insert(name) }
    }
    if isMember, !isPattern { made.insert(name) }
    if places[index].isInParentheses, symbol(index + 1) == ":", !isMember {
      // A label, or a parameter's name.
      if symbol(index - 1) == "(" || symbol(index - 1) == "," { return }
      if word(index - 1) != nil, symbol(index - 2) == "(" || symbol(index - 2) == "," { return }
    }
    if isAssigned(index), !isPattern {
      written.insert(name)
      return
    }
    // `self.name = name` stores a parameter.
    if symbol(index - 1) == "=", word(index - 2) == name, word(index - 4) == "self" || isFirst(index - 2) { return }
    if !isMember || word(index - 2) == "self", functions.contains(where: { $0.name == name }) {
      inside.insert(name)
      return
    }
    read.insert(name)
    if mayBeFunction(index) { called.insert(name) }
  }

  /// Whether what is named can be a function: not what has members or is the variable of a loop or of a closure.
  private func mayBeFunction(_ index: Int) -> Bool {
    if word(index - 1) == "for" || word(index + 1) == "in" { return false }
    switch symbol(index + 1) {
    case ".", "[", "?", "!": return false
    // A value that a statement looks at.
    case "{": return !["switch", "in", "if", "while"].contains(word(index - 1))
    default: return true
    }
  }

  private func isAssigned(_ index: Int) -> Bool {
    if assignedParts.contains(index) { return true }
    guard symbol(index - 1) == "." || beginsStatement(index) else { return false }
    let next = symbol(index + 1)
    if next == "=" { return symbol(index + 2) != "=" }
    return (next == "+" || next == "-") && symbol(index + 2) == "="
  }

  /// Whether a statement begins at a token, also one on the line of its brace, its case or its closure's parameters.
  private func beginsStatement(_ index: Int) -> Bool {
    if isFirst(index) || symbol(index - 1) == "{" || symbol(index - 1) == ";" || word(index - 1) == "in" { return true }
    guard symbol(index - 1) == ":", !places[index - 1].isInParentheses else { return false }
    var first = index
    while !isFirst(first) { first -= 1 }
    return word(first) == "case" || word(first) == "default"
  }

  /// Notes the names in `(name, self.name) = …`.
  private mutating func noteTuple(at start: Int) {
    var names: [Int] = []
    var index = start + 1
    while let name = word(index) {
      if name == "self", symbol(index + 1) == "." {
        index += 2
        continue
      }
      names.append(index)
      guard symbol(index + 1) == "," else { break }
      index += 2
    }
    guard symbol(index + 1) == ")", symbol(index + 2) == "=", symbol(index + 3) != "=" else { return }
    assignedParts.formUnion(names)
  }

  // MARK: Declarations

  /// The modifiers before a keyword, on its line or the one above.
  private func modifiers(before keyword: Int) -> Set<String> {
    var found: Set<String> = []
    var index = keyword - 1
    while index >= 0, let word = word(index) ?? (symbol(index) == ")" ? setter(index) : nil) {
      guard Self.modifiers.contains(word) else { break }
      found.insert(word)
      index -= symbol(index) == ")" ? 4 : 1
    }
    return found
  }

  /// `private(set)` ends at `index`.
  private func setter(_ index: Int) -> String? {
    word(index - 1) == "set" && symbol(index - 2) == "(" ? "set" : nil
  }

  private static let modifiers: Set<String> = [
    "public", "package", "internal", "private", "fileprivate", "open", "override", "static", "final", "mutating",
    "nonmutating", "lazy", "weak", "unowned", "indirect", "consuming", "borrowing", "nonisolated", "convenience",
    "required", "dynamic", "unsafe", "set", "prefix", "postfix", "infix",
  ]

  private func access(_ modifiers: Set<String>) -> Access {
    if modifiers.contains("public") || modifiers.contains("open") || modifiers.contains("override") {
      return .elsewhere
    }
    if modifiers.contains("package") { return .package }
    if modifiers.contains("private") || modifiers.contains("fileprivate") { return .file }
    // Members of an extension have its access.
    if let scope, scope.kind == "extension", scope.access != .module { return scope.access }
    return .module
  }

  private mutating func declare(_ name: String, kind: String, at index: Int) {
    let modifiers = modifiers(before: index - 1)
    let access = access(modifiers)
    let indentation = places[index].indentation
    if kind == "let" || kind == "var", symbol(index + 1) == ":", let type = word(index + 2) {
      propertyTypes.append((name, type == "any" || type == "some" ? word(index + 3) ?? type : type))
    } else if kind == "let" || kind == "var", symbol(index + 1) == "=", let type = word(index + 2) {
      propertyTypes.append((name, type))
    }
    if Self.types.contains(kind), symbol(index - 2) != ":" {
      var isRaw = false
      var isSynthesized = false
      var constrains = false
      var next = index + 1
      while next < places.count, symbol(next) != "{" {
        if let inherited = word(next) {
          if Self.rawTypes.contains(inherited) { isRaw = true }
          if Self.synthesizing.contains(inherited) { isSynthesized = true }
          if inherited == "where" { constrains = true }
          if kind == "extension", !constrains { conformances.append((name, inherited)) }
        }
        next += 1
      }
      if kind != "extension", indentation == 0 { topLevelTypes.insert(name) }
      opening[next] = Scope(kind: kind, access: access, isRaw: isRaw, isSynthesized: isSynthesized)
      if kind == "extension" {
        read.insert(name)
        return
      }
    } else if scope?.kind == "protocol" {
      requirements.insert(name)
    } else if kind == "func", let brace = body(after: index) {
      bodies[brace] = name
    }
    // `if let name` unwraps what has the name already.
    if kind == "let" || kind == "var", symbol(index + 1) == "{" || symbol(index + 1) == "," || word(index + 1) == "else"
    {
      read.insert(name)
    }
    if kind == "typealias", indentation == 0 { topLevelTypes.insert(name) }
    guard name != "_" else { return }
    // What `==` or a coder reads is read.
    if let scope, scope.isSynthesized, kind == "let" || kind == "var", !modifiers.contains("static"),
      !hasAccessors(index)
    {
      read.insert(name)
    }
    declarations.append(
      Declaration(
        name: name, kind: kind, access: access, line: places[index].line, hasAccessors: hasAccessors(index),
        isRaw: false))
  }

  /// The position of the brace that opens the body of a function.
  private func body(after name: Int) -> Int? {
    var depth = 0
    for index in (name + 1)..<places.count {
      switch symbol(index) {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "{" where depth == 0: return index
      case "}" where depth == 0: return nil
      default: break
      }
    }
    return nil
  }

  /// Whether reading or writing a property runs code: a brace opens on its line, before a value or with an observer.
  private func hasAccessors(_ index: Int) -> Bool {
    var next = index + 1
    var hasValue = false
    while next < places.count, places[next].line == places[index].line {
      switch symbol(next) {
      case "=": hasValue = true
      case "{" where !hasValue || word(next + 1) == "didSet" || word(next + 1) == "willSet": return true
      case "}": return false
      default: break
      }
      next += 1
    }
    return false
  }

  /// A `case` directly in the braces of an enum.
  private var declaresCases: Bool { scope?.kind == "enum" }

  private mutating func declareCases(after keyword: Int) {
    guard let scope else { return }
    var depth = 0
    var expectsName = true
    var index = keyword + 1
    let access: Access = scope.access == .module ? .module : scope.access
    while index < places.count {
      if let name = word(index) {
        if expectsName, depth == 0 {
          declarations.append(
            Declaration(
              name: name, kind: "case", access: access, line: places[index].line, hasAccessors: false,
              isRaw: scope.isRaw))
          caseNames.insert(index)
          expectsName = false
        } else if depth == 0, symbol(index - 1) != "=" {
          return
        }
      } else {
        switch symbol(index) {
        case "(", "[": depth += 1
        case ")", "]": depth -= 1
        case "," where depth == 0: expectsName = true
        case "}", "@": return
        default: break
        }
      }
      index += 1
    }
  }
}
