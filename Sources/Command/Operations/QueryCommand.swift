import Martlet
import MartletCommandLine

/// `martlet query URL DOCUMENT`.
enum QueryCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "query", summary: "Run a query and print its response.", operands: OperationInput.operands,
    options: OperationInput.options + [OperationInput.persisted, OperationInput.file, SingleOperation.compact],
    examples: [
      ("martlet query localhost:8080 '{ listTodos { items { id text } } }'", "prints the response, indented"),
      (
        "martlet query localhost:8080 @todo.graphql --variables '{\"id\":\"7\"}' --header x-api-key:$KEY",
        "reads the document from a file and shows a key"
      ),
    ])

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    try await SingleOperation.run(arguments, isMutation: false)
  }
}

/// `martlet mutate URL DOCUMENT`.
enum MutateCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "mutate", summary: "Run a mutation once and print its response.", operands: OperationInput.operands,
    options: OperationInput.options + [OperationInput.persisted, OperationInput.file, SingleOperation.compact],
    examples: [
      (
        "martlet mutate localhost:8080 'mutation { createTodo(input: {text: \"Tea\"}) { id } }'",
        "writes a record and prints its id"
      ),
      (
        "martlet mutate localhost:8080 'mutation ($p: Upload!) { setPicture(picture: $p) }' --file p=picture.png",
        "sends a file along"
      ),
    ],
    discussion:
      "A mutation is sent once. When the connection is lost before the answer, exit code 69 says that it may have been "
      + "executed.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    try await SingleOperation.run(arguments, isMutation: true)
  }
}

/// What query and mutate do alike.
enum SingleOperation {
  static let compact = CommandSpecification.Option(name: "compact", value: nil, help: "print the response on one line")

  static func run(_ arguments: ParsedArguments, isMutation: Bool) async throws -> ExitCode {
    let input = try OperationInput(arguments, for: isMutation ? .mutation : .query)
    let remote = try Remote(
      url: input.url, headers: input.headers, attempts: 0, subscribingBy: .http(.multipart),
      persists: arguments.has("persisted"), trusting: try ServerTrust(arguments))
    try await ServerWait.wait(for: input.url, arguments)
    let response = try await remote.perform(input, isMutation: isMutation)
    let value = JSONValue.object(response)
    Console.out(arguments.has("compact") ? value.description : ReadableJSON.pretty(value))
    return response["errors"] == nil ? .success : .failure
  }
}
