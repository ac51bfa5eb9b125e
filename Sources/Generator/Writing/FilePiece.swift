/// What is written for one operation, one fragment, or the types of the schema.
struct FilePiece {
  var name: String
  /// The file it was made from.
  var source: String?
  var lines: [String]

  static func files(_ pieces: [FilePiece], _ configuration: GeneratorConfiguration) -> [GeneratedFile] {
    guard configuration.isSingleFile else {
      return pieces.map { piece in
        let from = piece.source.map { $0 == "the schema" ? " from \($0)" : " from \(lastComponent($0))" } ?? ""
        return GeneratedFile(
          name: piece.name + ".swift",
          text: text("\(GeneratedFile.mark)\(from). Do not edit.", piece.lines, configuration))
      }
    }
    let lines = pieces.enumerated().flatMap { ($0 == 0 ? [] : [""]) + $1.lines }
    return [GeneratedFile(name: "", text: text("\(GeneratedFile.mark). Do not edit.", lines, configuration))]
  }

  private static func text(_ head: String, _ all: [String], _ configuration: GeneratorConfiguration) -> String {
    let lines = code(all)
    var modules = Set(
      configuration.scalars.values.compactMap { scalar in
        scalar.module.flatMap { module in lines.contains { mentions($0, scalar.type) } ? module : nil }
      })
    let ours = ["GraphQLQuery", "GraphQLMutation", "GraphQLSubscription", "GraphQLNullable", "JSONValue", "JSONObject"]
    if lines.contains(where: { line in ours.contains { mentions(line, $0) } }) {
      modules.insert(configuration.module)
    }
    if lines.contains(where: { line in ["StoredModel", "QueryOperand", "Model"].contains { mentions(line, $0) } }) {
      modules.insert("MartletDataStore")
    }
    let imports = modules.sorted().map { "\(configuration.prefix)import \($0)" }
    return ([head, "// swift-format-ignore-file", ""] + imports + (imports.isEmpty ? [] : [""]) + all)
      .joined(separator: "\n") + "\n"
  }

  /// The lines without strings, whose words are GraphQL.
  private static func code(_ lines: [String]) -> [String] {
    var isText = false
    return lines.compactMap { line in
      defer { if line.hasSuffix("\"\"\"") { isText.toggle() } }
      return isText ? nil : String(line.prefix { $0 != "\"" })
    }
  }

  /// Whether a line uses a type's name in code.
  private static func mentions(_ line: String, _ type: String) -> Bool {
    guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return false }
    return line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }.contains { $0 == type }
  }

  private static func lastComponent(_ path: String) -> Substring {
    path.split(separator: "/").last ?? path[...]
  }
}
