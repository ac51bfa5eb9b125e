import Foundation
import MartletCommandLine
import Testing

@testable import MartletCommand

/// The command as a process: what it prints where, and how it ends.
@Suite struct ExitCodeTests {
  private func run(_ script: String) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("exit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await ShellRun.bash(script, in: folder)
  }

  @Test(arguments: [
    ("martlet", ExitCode.usage, "USAGE: martlet SUBCOMMAND"),
    ("martlet sevre", .usage, "Did you mean 'serve'?"),
    ("martlet access lst", .usage, "Did you mean list?"),
    ("martlet access key lst", .usage, "Did you mean key list?"),
    ("martlet --version > /dev/full", .io, "Standard output cannot be written: the disk is full."),
    ("martlet completion bash > /dev/full", .io, "Standard output cannot be written: the disk is full."),
    (
      "echo 'type T @model { id: ID! }' > s; martlet schema print s > /dev/full", .io,
      "Standard output cannot be written: the disk is full."
    ),
    ("martlet serve missing.graphql --memory", .io, "missing.graphql cannot be read: there is no such file."),
    ("echo 'type T @model { id: ID! x: Nope }' > s; martlet schema check s", .badData, "s:1:"),
    ("echo 'type T @model { id: ID! x: Nope }' > s; martlet serve s --memory --dev", .badData, "s:1:"),
    ("echo 'type T {' > s; martlet serve s --memory --dev", .badData, "s:2:1: Syntax Error"),
    ("echo 'type T { id: ID! }' > s; martlet serve s --memory --dev", .badData, "Write @model after a type's name"),
    ("mkdir d; martlet serve d --memory --dev", .io, "d cannot be read: it is a folder."),
    (
      "echo 'type T @model { id: ID! }' > s; martlet serve s --memory --dev --port 0 > out & "
        + "until grep -q Serving out; do sleep 0.1; done; port=$(sed 's/.*:\\([0-9]*\\)\\/.*/\\1/' out); "
        + "martlet serve s --memory --dev --port $port; code=$?; kill %1; exit $code", .unavailable,
      "Address already in use; --port takes another one"
    ),
    (
      "echo 'type T @model { id: ID! }' > s; martlet serve s --memory --dev --port 0 > out & "
        + "until grep -q Serving out; do sleep 0.1; done; port=$(sed 's/.*:\\([0-9]*\\)\\/.*/\\1/' out); "
        + "martlet serve s --memory --dev --port 0 --admin-port $port; code=$?; kill %1; exit $code", .unavailable,
      "Address already in use; --admin-port takes another one"
    ),
    ("echo 'type T @model { id: ID! }' > s; martlet serve s --memory --port 0", .configuration, "--dev"),
    (
      "echo 'type T @model { id: ID! }' > s; echo '{\"tokens\":[{\"issuer\":\"http://a.example\"}]}' > a; "
        + "martlet serve s --memory --port 0 --access a", .configuration, "tokens[0] has an issuer that cannot be asked"
    ),
    ("echo '{}' > a; echo 'type T @model { id: ID! }' > s; martlet serve s --memory --access a", .configuration, "a: "),
    ("martlet query 127.0.0.1:1 '{ a }'", .unavailable, "Connection refused"),
    ("martlet query 127.0.0.1:1 '{ a }' --variables '['", .usage, "--variables is not JSON"),
    ("martlet subscribe h '{ a }' --protocol nobody", .usage, "--protocol must be one of"),
    ("martlet subscribe h 'subscription { a }' --from x", .usage, "'x' is neither \"oldest\" nor a cursor"),
    ("martlet backup nothing copy", .io, "there is no store at nothing/"),
    ("martlet completion tcsh", .usage, "SHELL must be one of bash, zsh, fish, not 'tcsh'."),
  ])
  func `a failure has its exit code and says on standard error what to do`(
    script: String, code: ExitCode, message: String
  ) async throws {
    let result = try await run(script)
    #expect(result.status == code.rawValue, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
    #expect(result.output.isEmpty, "\(result.output)")
  }

  @Test(arguments: [
    ("martlet --version", "martlet "), ("martlet help import", "USAGE: martlet import URL MODEL FILE"),
    ("martlet serve --help", "USAGE: martlet serve SCHEMA"),
    ("echo 'type T @model { id: ID! }' > s; martlet schema diff s s", "The schemas serve the same."),
  ])
  func `what was asked for is on standard output`(script: String, text: String) async throws {
    let result = try await run(script)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains(text))
  }

  @Test func `a breaking difference of schemas ends with 1`() async throws {
    let result = try await run(
      "echo 'type T @model { id: ID! a: Int }' > s; echo 'type T @model { id: ID! }' > t; martlet schema diff s t")
    #expect(result.status == ExitCode.failure.rawValue)
    #expect(result.output.contains("breaking: "))
  }
}
