import MartletCommandLine
import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels

/// `martlet schema print|check|diff`.
enum SchemaCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "schema", summary: "Print, check or compare schemas.",
    operands: [
      .init(
        name: "ACTION", help: "print, check or diff",
        choices: [
          .init("print", "the schema as served"), .init("check", "report every mistake with its place"),
          .init("diff", "list the changes to a newer schema"),
        ]),
      .init(name: "FILE", help: "a schema in the type system language, with or without @model types"),
      .init(name: "NEWER", help: "for diff: the newer schema", isOptional: true),
    ],
    options: [
      .init(name: "tree", value: nil, help: "as a server with a synced tree serves it (martlet serve --rules)")
    ],
    examples: [
      ("martlet schema print schema.graphql", "prints the schema as served, generated operations included"),
      ("martlet schema print schema.graphql --tree", "the same with treeChanged(path:), which follows the tree"),
      ("martlet schema check schema.graphql", "reports every mistake with its place"),
      ("martlet schema diff old.graphql new.graphql", "lists the changes; exit code 1 when clients would break"),
    ])

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    let action = arguments.operands[0]
    let file = arguments.operands[1]
    let newer = arguments.operands.count > 2 ? arguments.operands[2] : nil
    let servesTree = arguments.has("tree")
    switch (action, newer) {
    case ("print", nil):
      Console.out(try read(file, servesTree: servesTree).schema.text)
      return .success
    case ("check", nil):
      let schema = try read(file, servesTree: servesTree)
      Console.out(
        "\(file) is good: \(Count.of(schema.models.count, "model")), "
          + "\(Count.of(schema.operations.count, "operation")).")
      return .success
    case ("diff", let newer?):
      let changes = SchemaComparison.changes(
        from: try read(file, servesTree: servesTree).schema, to: try read(newer, servesTree: servesTree).schema)
      for change in changes.sorted(by: { $0.severity < $1.severity }) { Console.out(change.description) }
      if changes.isEmpty { Console.out("The schemas serve the same.") }
      return changes.contains { $0.severity == .breaking } ? .failure : .success
    case ("diff", nil): throw UsageError("diff needs two files: martlet schema diff OLD NEW.")
    case ("print", _), ("check", _): throw UsageError("\(action) takes one file.")
    default: throw UsageError("Unknown action '\(action)': print, check or diff.")
    }
  }

  /// Whether a document is refused because it has no `Query`, which has no place in it.
  private static func isMissingQuery(_ error: GraphQLError) -> Bool {
    error.rule == TypeSystemRule.rootTypes.rawValue && error.locations.isEmpty
  }

  /// The schema of a file; its mistakes, one a line, when it has some.
  static func read(_ path: String, servesTree: Bool = false) throws(CommandFailure) -> ModelSchema {
    try read(try NamedFile.text(path), of: path, servesTree: servesTree)
  }

  /// The same of a text that was read from the file.
  static func read(
    _ text: String, of path: String, servesTree: Bool = false
  ) throws(CommandFailure) -> ModelSchema {
    do {
      return try ModelSchema(text, name: path, servesTree: servesTree)
    } catch {
      let lines = error.errors.map { error in
        let place = error.locations.first.map { "\(path):\($0.line):\($0.column): " } ?? "\(path): "
        return place + error.message
      }
      if !text.contains("@model"), error.errors.contains(where: Self.isMissingQuery) {
        let hint = "Write @model after a type's name to store it and give it operations: type Todo @model { id: ID! }"
        throw CommandFailure(.badData, (lines + [hint]).joined(separator: "\n"))
      }
      throw CommandFailure(.badData, lines.joined(separator: "\n"))
    }
  }
}
