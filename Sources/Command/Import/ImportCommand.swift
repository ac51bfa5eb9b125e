import Foundation
import Martlet
import MartletCommandLine

/// `martlet import URL MODEL FILE`.
enum ImportCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "import", summary: "Write the rows of a file into a model: CSV, JSON lines, or what Amplify has kept.",
    operands: [
      .init(name: "URL", help: "the server, as http://127.0.0.1:8080/graphql; the path may be left out"),
      .init(name: "MODEL", help: "the model's name in the schema"),
      .init(name: "FILE", help: "comma-separated values with column names, or one JSON object a line"),
    ],
    options: [
      .init(
        name: "format", value: "NAME", help: "csv or jsonl (default: by the file's name)",
        choices: [.init("csv", "comma-separated values with names"), .init("jsonl", "a JSON object a line")]),
      .init(
        name: "from", value: "NAME", help: "what the file comes from, where it is not a plain table",
        choices: [
          .init(
            "firebase", "the JSON export of a Realtime Database; operands: SCHEMA EXPORT RULES",
            operands: ["SCHEMA", "EXPORT", "RULES"]),
          .init("amplify", "a SQLite file of DataStore, or a DynamoDB JSON export of the model's table"),
        ]),
      .init(name: "data", value: "DIR", help: "firebase: the data folder to write, which no server uses"),
      .init(name: "at", value: "PATH", help: "firebase: where the export's root is put (default: /)"),
      .init(name: "map", value: "COLUMN=FIELD", help: "a column whose field has another name", repeats: true),
      .init(name: "missing", value: "TEXT", help: "a text that stands for no value, such as NA", repeats: true),
      .init(name: "schema", value: "FILE", help: "the server's schema, where it answers no introspection (no --dev)"),
      .init(name: "ignore-unknown", value: nil, help: "leave out columns that are not fields"),
      .init(
        name: "batch", value: "N",
        help: "rows of one transaction at most (default 100); larger ones than a server takes are split"),
      .init(name: "restart", value: nil, help: "start at the first row, not where an interrupted import stopped"),
    ] + OperationInput.connectionOptions,
    examples: [
      ("martlet import localhost:8080 Airport airports.csv --map lat=latitude --missing NA", "loads a table"),
      ("martlet import localhost:8080 Todo todos.jsonl", "loads JSON lines"),
      ("martlet import localhost:8080 Todo AmplifyDatastore.db --from amplify", "loads a device's records"),
      (
        "martlet import schema.graphql export.json rules.json --from firebase --data data",
        "loads the tree of a Realtime Database, and says which of its rules cannot be expressed here"
      ),
    ],
    discussion:
      "Cells become values of their fields' types, which the command reads by introspection. An import that is "
      + "interrupted continues where it stopped; rows whose key exists are updated where a value differs, so that "
      + "running it again changes nothing; of rows with one key the later one's values are kept, and where they are more "
      + "than a batch apart each import writes them in turn. FILE.MODEL.import remembers the place and is removed at "
      + "the end.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    if arguments.value("from") == "firebase" { return try await FirebaseImport.run(arguments) }
    let url = try OperationInput.url(arguments.operands[0])
    let (model, file) = (arguments.operands[1], arguments.operands[2])
    let isAmplify = arguments.value("from") == "amplify"
    var reader: any RowSource
    if isAmplify {
      reader = try AmplifyExport.rows(of: model, in: file)
    } else {
      reader = try RowReader(try ByteSource(path: file), format: try format(arguments, file: file))
    }
    try await ServerWait.wait(for: url, arguments)
    // A server that cannot be used is reported at once; one that is lost later may come back.
    let (first, remote) = (try remote(url, arguments, attempts: 0), try remote(url, arguments, attempts: 5))
    let schema = arguments.value("schema")
    func ask(_ document: String, _ variables: JSONObject = JSONObject()) async throws -> JSONValue {
      if let schema {
        return try data(of: try await LocalIntrospection.answer(schemaFile: schema, document, variables))
      }
      return try data(of: try await first.perform(document, variables: variables, isMutation: false))
    }
    var target = try ImportTarget(
      model: model, answer: try await ask(ImportTarget.document, ImportTarget.variables(model: model)))
    try await target.readObjects { try await ask($0) }
    let conversion = try RowConversion(
      target, header: reader.header, renamed: try renamed(arguments), missing: Set(arguments.all("missing")),
      ignoresUnknown: arguments.has("ignore-unknown"), isAmplify: isAmplify)
    let bytes = file == "-" ? nil : try NamedFile.size(file)
    var state = ImportState(url: url, model: model, bytes: bytes ?? 0)
    let stateFile = ImportState.path(for: file, model: model)
    if !arguments.has("restart"), NamedFile.exists(stateFile),
      let old = ImportState(text: try NamedFile.text(stateFile)), old.continues(state)
    {
      state = old
      Console.error("Continuing after row \(old.rows).")
    }
    // With introspection the server has answered already.
    if schema != nil { _ = try await first.perform("{ __typename }", variables: JSONObject(), isMutation: false) }
    for _ in 0..<state.rows { _ = try reader.next() }
    let size = try arguments.integer("batch", in: 1...1_000_000) ?? 100
    var writer = BatchWriter(target: target) { document, variables, isMutation throws(CommandFailure) in
      try await remote.respond(document, variables: variables, isMutation: isMutation)
    }
    var counts = BatchWriter.Counts()
    var bar = ProgressBar()
    while let batch = try next(size, of: &reader, by: conversion) {
      counts += try await writer.write(batch)
      state.rows += batch.count
      try NamedFile.write(state.text, to: stateFile)
      bar.show(fraction: reader.fraction, rows: state.rows)
    }
    bar.end()
    try? FileManager.default.removeItem(atPath: stateFile)
    Console.out("Imported \(Count.of(state.rows, "row")) into \(model): \(counts.text).")
    return .success
  }

  private static func remote(_ url: String, _ arguments: ParsedArguments, attempts: Int) throws -> Remote {
    try Remote(
      url: url, headers: try OperationInput.headers(arguments), attempts: attempts,
      trusting: try ServerTrust(arguments))
  }

  /// The next rows: as many as `size` says, and no more than one request takes, so that the memory needed depends on
  /// neither the file nor the option.
  static func next(
    _ size: Int, of reader: inout some RowSource, by conversion: RowConversion
  ) throws(CommandFailure) -> [JSONObject]? {
    var batch: [JSONObject] = []
    let begin = reader.taken
    while batch.count < min(size, BatchWriter.mostWrites), reader.taken - begin < BatchWriter.largestRequest,
      let row = try reader.next()
    {
      batch.append(try conversion.input(row))
    }
    return batch.isEmpty ? nil : batch
  }

  private static func format(_ arguments: ParsedArguments, file: String) throws(UsageError) -> RowReader.Format {
    if let name = arguments.value("format") {
      guard let format = RowReader.Format(rawValue: name) else {
        throw UsageError("--format must be csv or jsonl, not '\(name)'.")
      }
      return format
    }
    switch URL(fileURLWithPath: file).pathExtension.lowercased() {
    case "csv": return .csv
    case "jsonl", "ndjson": return .jsonl
    default: throw UsageError("The format of \(file) is not clear from its name: say --format csv or --format jsonl.")
    }
  }

  private static func renamed(_ arguments: ParsedArguments) throws(UsageError) -> [String: String] {
    var names: [String: String] = [:]
    for word in arguments.all("map") {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { throw UsageError("--map must be COLUMN=FIELD, not '\(word)'.") }
      names[String(parts[0])] = String(parts[1])
    }
    return names
  }

  static func data(of response: JSONObject) throws(CommandFailure) -> JSONValue {
    if let errors = response["errors"]?.array, let first = errors.first {
      throw CommandFailure(.failure, first["message"]?.string ?? first.description)
    }
    return response["data"] ?? .null
  }
}
