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
  /// Names that are read, called or named.
  private(set) var read: Set<String> = []
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
  }

  private func token(_ index: Int) -> SwiftTokens.Token? { places.indices.contains(index) ? places[index].token : nil }

  private func word(_ index: Int) -> String? { token(index)?.word }

  private func symbol(_ index: Int) -> Character? {
    if case .symbol(let byte)? = token(index) { Character(UnicodeScalar(byte)) } else { nil }
  }

  private mutating func symbol(at index: Int) {
    switch symbol(index) {
    case ":", "=": isPattern = false
    case "{": braces.append(opening[index])
    case "}": _ = braces.popLast()
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
    read.insert(name)
  }

  private func isAssigned(_ index: Int) -> Bool {
    let begins = symbol(index - 1) == "." || isFirst(index) || symbol(index - 1) == "{" || symbol(index - 1) == ";"
    guard begins else { return false }
    let next = symbol(index + 1)
    if next == "=" { return symbol(index + 2) != "=" }
    return (next == "+" || next == "-") && symbol(index + 2) == "="
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

  /// Whether a brace opens on the line of a property.
  private func hasAccessors(_ index: Int) -> Bool {
    var next = index + 1
    while next < places.count, places[next].line == places[index].line {
      if symbol(next) == "{" { return true }
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
