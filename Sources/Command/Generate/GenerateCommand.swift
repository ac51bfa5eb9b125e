import MartletCommandLine
import MartletGenerateFiles
import MartletGenerator
import MartletGraphQLLanguage
import MartletJSON

/// `martlet generate [CONFIGURATION]`.
enum GenerateCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "generate", summary: "Make Swift types of GraphQL operations.",
    operands: [
      .init(
        name: "CONFIGURATION", help: "the settings; martlet-generate.json in this folder if there is one",
        isOptional: true)
    ],
    options: [
      .init(
        name: "schema", value: "FILE|URL",
        help: "the schema: a file (SDL, with or without @model, or introspection JSON) or a running server",
        repeats: true),
      .init(
        name: "operations", value: "GLOB", help: "the operation files, such as 'Queries/**/*.graphql'", repeats: true),
      .init(name: "output", value: "PATH", help: "a folder for a file per operation, or one file ending in .swift"),
      .init(
        name: "access", value: "LEVEL", help: "internal, package or public",
        choices: [
          .init("internal", "types for this module"), .init("package", "types for this package"),
          .init("public", "types for every module"),
        ]),
      .init(name: "check", value: nil, help: "write nothing; exit code 1 when something would change"),
      .init(
        name: "operations-from-schema", value: "FOLDER",
        help: "write a .graphql document for each root field instead, leaving files that exist"),
      .init(name: "depth", value: "N", help: "for --operations-from-schema: objects inside each other to select (2)"),
    ] + OperationInput.connectionOptions,
    examples: [
      ("martlet generate", "reads martlet-generate.json and writes what it says"),
      (
        "martlet generate --schema schema.graphql --operations '**/*.graphql' --output Sources/App/Generated",
        "needs no configuration"
      ),
      (
        "martlet generate --schema http://127.0.0.1:8080/graphql --header x-api-key:$KEY --output API.swift",
        "asks a running server for its schema, and writes one file"
      ),
      (
        "martlet generate --schema schema.graphql --operations-from-schema Operations",
        "writes an operation for each field of Query, Mutation and Subscription"
      ),
      ("martlet generate --check", "in CI: fails when generated files are not up to date"),
    ],
    discussion: "Mistakes in operations are reported as file:line:column: message, all at once, with exit code 65.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    do {
      return try await generate(arguments)
    } catch let failure as GenerationErrors {
      throw CommandFailure(.badData, failure.description)
    }
  }

  private static func generate(_ arguments: ParsedArguments) async throws -> ExitCode {
    let (root, settings) = try settings(arguments)
    let folder = GenerateFolder(root, settings: settings)
    let schema: Schema
    if let url = settings.schema.first, url.contains("://") {
      guard settings.schema.count == 1 else { throw UsageError("A server's schema cannot be joined with files.") }
      try await ServerWait.wait(for: try OperationInput.url(url), arguments)
      schema = try await introspect(try OperationInput.url(url), arguments)
    } else {
      // A file that is not there is no mistake in a schema.
      for path in settings.schema where !path.contains("*") {
        _ = try NamedFile.size(path.hasPrefix("/") || root == "." ? path : root + "/" + path)
      }
      schema = try folder.schema()
    }
    if let target = arguments.value("operations-from-schema") {
      let depth = try arguments.integer("depth", in: 1...SchemaOperations.maximumDepth)
      return try writeOperations(schema, to: target, depth: depth ?? SchemaOperations.defaultDepth)
    }
    if arguments.has("depth") { throw UsageError("--depth goes with --operations-from-schema.") }
    let output = try folder.generate(schema)
    for warning in output.warnings { Console.error(warning.described(as: "warning: ")) }
    if arguments.has("check") {
      let changes = folder.changes(output)
      for path in changes { Console.out("\(path) is not up to date.") }
      return changes.isEmpty ? .success : .failure
    }
    let report: GenerateFolder.Report
    do {
      report = try folder.write(output)
    } catch {
      throw CommandFailure(.io, error.description)
    }
    for path in report.removed { Console.out("removed \(path)") }
    for path in report.written { Console.out("wrote \(path)") }
    Console.out(summary(report))
    return .success
  }

  /// `12 files (3 written), 120 lines for 40 selected fields`.
  private static func summary(_ report: GenerateFolder.Report) -> String {
    let files = report.written.count + report.unchanged
    return "\(Count.of(files, "file")) (\(report.written.count) written), "
      + "\(Count.of(report.lines, "line")) for \(Count.of(report.selectedFields, "selected field"))"
  }

  /// The folder paths are relative to, and the settings: the file's, then those of the command line.
  private static func settings(_ arguments: ParsedArguments) throws -> (String, GenerateSettings) {
    var settings = GenerateSettings()
    var root = "."
    let named = arguments.operands.first
    if let path = named ?? (NamedFile.exists(GenerateSettings.fileName) ? GenerateSettings.fileName : nil) {
      settings = try GenerateSettings(try NamedFile.text(path), file: path)
      let components = path.split(separator: "/", omittingEmptySubsequences: false)
      if components.count > 1 { root = components.dropLast().joined(separator: "/") }
      if root.isEmpty { root = "/" }
    } else if arguments.all("schema").isEmpty {
      throw UsageError("There is no \(GenerateSettings.fileName) here: name one, or give --schema.")
    }
    // Paths on the command line are relative to where it is given; so is everything once --schema is.
    if !arguments.all("schema").isEmpty { settings.schema = arguments.all("schema") }
    if !arguments.all("operations").isEmpty { settings.operations = arguments.all("operations") }
    if let output = arguments.value("output") { settings.output = output }
    if let access = arguments.value("access") {
      guard let level = GeneratorConfiguration.Access(rawValue: access) else {
        throw UsageError("--access must be internal, package or public, not '\(access)'.")
      }
      settings.generator.access = level
    }
    return (root, settings)
  }

  /// Asks a server. One that does not know the newer members of introspection is asked again without them.
  private static func introspect(_ url: String, _ arguments: ParsedArguments) async throws -> Schema {
    let remote = try Remote(
      url: url, headers: try OperationInput.headers(arguments), attempts: 0,
      trusting: try ServerTrust(arguments))
    var answer = JSONObject()
    do {
      answer = try await remote.perform(IntrospectionQuery.fullDocument, variables: JSONObject(), isMutation: false)
    } catch {
      // Refused as a whole: no member of the answer says which part it did not know.
      guard error.code == .failure else { throw error }
    }
    if answer["data"]?["__schema"] == nil {
      answer = try await remote.perform(IntrospectionQuery.document, variables: JSONObject(), isMutation: false)
    }
    guard let data = answer["data"], data["__schema"] != nil else {
      throw CommandFailure(
        .failure,
        "\(url) did not answer introspection: \(answer["errors"]?.description ?? "no data"). Use a schema file.")
    }
    return try GenerateFolder.schema([SourceFile(name: url, text: data.description)])
  }

  private static func writeOperations(_ schema: Schema, to folder: String, depth: Int) throws -> ExitCode {
    var written = 0
    let files = SchemaOperations.documents(for: schema, depth: depth)
    try NamedFile.makeFolder(folder)
    for file in files {
      let path = folder + "/" + file.name
      if NamedFile.exists(path) { continue }
      try NamedFile.write(file.text, to: path)
      written += 1
    }
    Console.out(
      "\(Count.of(files.count, "operation")), \(written) written to \(folder); files that existed were left alone")
    return .success
  }
}
