/// Turns GraphQL names into Swift names. GraphQL names are ASCII letters, digits and underscores (section 2.1.9).
enum SwiftName {
  /// The name of a type: `reviewAdded`, `review_added` -> `ReviewAdded`.
  static func type(_ name: String) -> String {
    let (underscores, parts) = split(name)
    return parts.isEmpty ? underscores + "Field" : underscores + parts.map(capitalised).joined()
  }

  /// The name of an enum case: `JEDI` -> `jedi`, `NEW_HOPE` -> `newHope`, `NewHope` -> `newHope`.
  static func enumCase(_ name: String) -> String {
    let (underscores, parts) = split(name)
    let shouts = !name.utf8.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    let words = shouts ? parts.map { $0.lowercased() } : parts
    let camel = underscores + (words.first.map(uncapitalised) ?? "") + words.dropFirst().map(capitalised).joined()
    return unusableCases.contains(camel) ? camel + "_" : camel
  }

  /// The names of an enum's cases. Values that would have one name (`FOO` and `foo`) keep the schema's spelling, since
  /// a schema is seldom its reader's to change.
  static func enumCases(_ values: [String]) -> [String] {
    var count: [String: Int] = [:]
    for value in values { count[enumCase(value), default: 0] += 1 }
    var taken: Set<String> = []
    return values.map { value in
      var name = enumCase(value)
      if count[name, default: 0] > 1 { name = unusableCases.contains(value) ? value + "_" : value }
      while !taken.insert(name).inserted { name += "_" }
      return name
    }
  }

  /// The name of a stored property: the response name, unless Swift cannot have it.
  static func property(_ name: String, besides taken: Set<String> = []) -> String {
    unusableProperties.contains(name) || taken.contains(name) ? name + "_" : name
  }

  /// The name between back quotes where it is a keyword.
  static func escaped(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// The name as an argument's label, where most keywords need no quotes and get a warning for them.
  static func label(_ name: String) -> String {
    name == "inout" ? "`\(name)`" : name
  }

  static func capitalised(_ text: some StringProtocol) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  static func uncapitalised(_ text: some StringProtocol) -> String {
    text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Leading underscores, and the parts between others.
  private static func split(_ name: String) -> (underscores: String, parts: [String]) {
    let rest = name.drop { $0 == "_" }
    return (String(name.prefix(name.count - rest.count)), rest.split(separator: "_").map(String.init))
  }

  /// Members every generated struct or any Swift value has.
  private static let unusableProperties: Set<String> = [
    "self", "Self", "Type", "Protocol", "init", "hashValue", "CodingKeys", "_",
  ]
  private static let unusableCases: Set<String> = [
    "self", "Self", "init", "unknown", "allCases", "rawValue", "hashValue", "CodingKeys", "Type", "Protocol", "_",
  ]

  /// Properties of an operation that variables cannot be.
  static let operationMembers: Set<String> = ["variables", "Data"]

  /// Type names that generated code itself uses, or that Swift does not allow: no generated type can have them.
  static let takenTypes: Set<String> = [
    "Any", "Bool", "Codable", "CodingKey", "CodingKeys", "CaseIterable", "Data", "Decodable", "Decoder", "Double",
    "Encodable", "Encoder", "Hashable", "Int", "GraphQLMutation", "GraphQLNullable", "GraphQLQuery",
    "GraphQLSubscription", "Optional", "Protocol", "RawRepresentable", "Self", "Sendable", "String", "Swift", "Type",
    "DecodingError", "SchemaTypes",
  ]

  private static let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
    "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else",
    "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while", "Any", "as",
    "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "unsafe", "_",
  ]
}
