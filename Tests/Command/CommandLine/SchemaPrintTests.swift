import Foundation
import Testing

@Suite struct SchemaPrintTests {
  private static func run(_ schema: String, _ script: String) async throws -> ShellRun {
    try await ShellRun.bash("cd \"$(mktemp -d)\"; cat > s.graphql <<'END'\n\(schema)\nEND\n\(script)")
  }

  @Test(arguments: [
    "type T @model { id: ID! at: AWSDateTime! tags: [String] other: [U] @hasMany } type U @model { id: ID! }",
    "scalar AWSDateTime type T @model { id: ID! at: AWSDateTime }",
    "type Query { now: AWSDateTime }",
    "type Query { a(text: String): Int } type Mutation { b: Int } type Subscription { c: Int }",
  ])
  func `what schema print writes passes schema check`(schema: String) async throws {
    let run = try await Self.run(schema, "martlet schema print s.graphql > p.graphql && martlet schema check p.graphql")
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test func `a schema without models carries none of the models' types`() async throws {
    let run = try await Self.run("type Query { a: Int }", "martlet schema print s.graphql")
    #expect(run.output.trimmingCharacters(in: .newlines) == "type Query {\n  a: Int\n}")
  }

  @Test func `the schema of a server with a tree has treeChanged, and passes schema check`() async throws {
    let run = try await Self.run(
      "type T @model { id: ID! }",
      """
      martlet schema print s.graphql | grep -c 'treeChanged\\|TreeChange'
      martlet schema print s.graphql --tree > p.graphql && grep 'treeChanged\\|^type TreeChange' p.graphql
      martlet schema check p.graphql > /dev/null && echo good
      """)
    #expect(run.output == "0\ntype TreeChange {\n  treeChanged(path: String!): TreeChange\ngood\n", "\(run.errors)")
  }

  @Test func `a directive that is nearly a known one is named`() async throws {
    let run = try await Self.run(
      "type T @modle { id: ID! @primarykey }\ntype U { id: ID! }", "martlet schema check s.graphql")
    #expect(run.status == 65)
    #expect(
      run.errors == """
        s.graphql:1:8: Unknown directive '@modle'. Did you mean '@model'?
        s.graphql:1:25: Unknown directive '@primarykey'. Did you mean '@primaryKey'?

        """)
  }
}
