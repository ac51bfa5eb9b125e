import Foundation
import Testing

@Suite struct GenerateCommandTests {
  private static func run(_ script: String) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("generate-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await ShellRun.bash(
      """
      echo 'type Query { a: Int }' > schema.graphql
      echo 'query A { a }' > A.graphql
      \(script)
      """, in: folder)
  }

  @Test func `a mistake in an operation ends with 65 and its place, and nothing is written`() async throws {
    let result = try await Self.run(
      "echo 'query B { b }' > B.graphql; martlet generate --schema schema.graphql; echo $?; ls")
    #expect(result.output == "65\nA.graphql\nB.graphql\nschema.graphql\n")
    #expect(result.errors == "B.graphql:1:11: Cannot query field 'b' on type 'Query'. Did you mean 'a'?\n")
  }

  @Test func `check ends with 1 while something would change, and with 0 afterwards`() async throws {
    let result = try await Self.run(
      """
      martlet generate --schema schema.graphql --output A.swift --check; echo $?
      martlet generate --schema schema.graphql --output A.swift --access public; echo $?
      martlet generate --schema schema.graphql --output A.swift --access public --check; echo $?
      """)
    #expect(
      result.output == """
        A.swift is not up to date.
        1
        wrote A.swift
        1 file (1 written), 18 lines for 1 selected field
        0
        0

        """)
  }

  @Test(arguments: [
    ("martlet generate", "There is no martlet-generate.json here: name one, or give --schema.\n", 64),
    ("martlet generate --schema none.graphql", "none.graphql cannot be read: there is no such file.", 74),
    ("martlet generate --schema schema.graphql --access open", "--access must be one of internal, package, public", 64),
    ("martlet generate --schema schema.graphql --operations '*.gql'", "No file matches \"*.gql\" in this folder.", 65),
    ("martlet generate --schema schema.graphql --depth 3", "--depth goes with --operations-from-schema.\n", 64),
    ("martlet generate --schema http://127.0.0.1:1/graphql", "", 69),
    (
      "echo 'query B { b }' > B.graphql; martlet generate B.graphql",
      "B.graphql: The configuration cannot be read: JSON, byte 0: this byte cannot stand here. "
        + "Operation files are named by --operations.", 65
    ),
    ("echo '{\"skema\": 1}' > g.json; martlet generate g.json", "g.json: Unknown setting \"skema\": ", 65),
  ])
  func `what does not fit is said, with the exit code for it`(line: String, message: String, code: Int32) async throws {
    let result = try await Self.run("\(line); exit $?")
    #expect(result.status == code, "\(result.errors)")
    #expect(result.errors.hasPrefix(message), "\(result.errors)")
  }
}
