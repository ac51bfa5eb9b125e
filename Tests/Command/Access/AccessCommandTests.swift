import Foundation
import MartletCommandLine
import Testing

@testable import MartletCommand

/// `martlet access` as a process.
@Suite struct AccessCommandTests {
  private func run(_ script: String) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await ShellRun.bash(script, in: folder)
  }

  /// RFC 7515, A.3: ES256, issued by joe, expires 1300819380.
  private static let key =
    #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
    + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
  private static let token =
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    + "fQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  /// RFC 8037, A.2 and A.4: EdDSA over a payload that is not JSON.
  private static let edKey = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
  private static let edToken =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

  private static let setUp = """
    printf '%s' '{"keys":[\(key),\(edKey)]}' > keys.json
    token=\(token); ed=\(edToken)

    """

  @Test func `keys are created, listed and revoked without the word key`() async throws {
    let result = try await run(
      """
      martlet access create board --file a.json > /dev/null && martlet access create "other one" --file a.json > /dev/null
      martlet access revoke board --file a.json > /dev/null && martlet access list --file a.json
      martlet access create too many --file a.json; echo $?; martlet access; echo $?; martlet access revoke; echo $?
      """)
    #expect(result.output == "other one\tnever expires\n64\n64\n64\n", "\(result.output)")
    #expect(result.errors.contains("Unexpected operand 'many'"))
    #expect(result.errors.contains("key revoke needs the key's name"))
  }

  @Test(arguments: [
    ("--at 1300819000 $token", "accepted: no subject, expires 2011-03-22T18:43:00Z, signed with ES256"),
    ("--at 2011-03-22T18:43:59Z $token", "accepted: no subject, expires 2011-03-22T18:43:00Z, signed with ES256"),
    ("--at 1300819380 --issuer joe --skew 1s $token", "accepted: no subject"),
    ("$ed", "accepted: no claims"),
    ("--algorithms EdDSA,ES256 $ed", "accepted: no claims"),
  ])
  func `an accepted token is described and ends with success`(words: String, text: String) async throws {
    let result = try await run(Self.setUp + "martlet access token check --keys keys.json \(words)")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.hasPrefix(text), "\(result.output)")
    #expect(result.errors.isEmpty)
  }

  @Test(arguments: [
    ("$token", "refused: expired: it expired at 1300819380"),
    ("--at 1300819380 --skew 0s $token", "refused: expired: "),
    ("--at 0 --issuer ada $token", "refused: wrong-issuer: the issuer is \"joe\""),
    ("--at 0 --audience board $token", "refused: missing-claim: the claim \"aud\" is missing"),
    ("--at 0 --require sub $token", "refused: missing-claim: the claim \"sub\" is missing"),
    ("--at 0 --algorithms RS256 $token", "refused: algorithm-not-allowed: "),
    ("--at 0 \" $token\"", "refused: malformed-encoding: "), ("--at 0 \"$token \"", "refused: malformed-encoding: "),
    ("--at 0 \"${token}=\"", "refused: malformed-encoding: "), ("''", "refused: not-three-parts: "),
    ("--issuer joe $ed", "refused: malformed-json: "),
  ])
  func `a refused token is described and ends with failure`(words: String, text: String) async throws {
    let result = try await run(Self.setUp + "martlet access token check --keys keys.json \(words)")
    #expect(result.status == ExitCode.failure.rawValue, "\(result.errors)")
    #expect(result.output.hasPrefix(text), "\(result.output)")
    #expect(!result.output.contains("eyJ"))
  }

  @Test func `each line of the input has one line of output, also empty ones`() async throws {
    let result = try await run(
      Self.setUp + "printf '%s\\n\\n%s\\n%s' $token $ed x | martlet access token check --keys keys.json --at 0 -")
    #expect(result.status == ExitCode.failure.rawValue)
    #expect(
      result.output.split(separator: "\n").map { $0.prefix(8) } == ["accepted", "refused:", "accepted", "refused:"])
  }

  @Test func `without a key set nothing is accepted, and unusable keys are named`() async throws {
    let none = try await run(Self.setUp + "martlet access token check --at 0 $token")
    #expect(none.status == ExitCode.failure.rawValue)
    #expect(none.output.hasPrefix("refused: unknown-key: "))
    #expect(none.errors.contains("--keys FILE"))
    let unusable = try await run(
      Self.setUp + #"echo '{"keys":[{"kty":"oct","kid":"s","k":"AAAA"}]}' > keys.json; "#
        + "martlet access token check --keys keys.json --at 0 $token")
    #expect(unusable.output.hasPrefix("refused: unknown-key: "))
    #expect(unusable.errors.contains("keys[0] (\"s\") is not used: its secret has 3 bytes"))
  }

  @Test(arguments: [
    ("martlet access token check", ExitCode.usage, "token check needs a token"),
    ("martlet access token check --algorithms none x", .usage, "--algorithms names 'none'"),
    ("martlet access token check --at yesterday x", .usage, "--at must be seconds since 1970"),
    ("martlet access token check --file a x", .usage, "--file is not an option of token check"),
    ("martlet access token check --keys missing.json x", .io, "missing.json cannot be read"),
    ("echo '[]' > k; martlet access token check --keys k x", .badData, "k: the key set has no list \"keys\""),
    ("martlet access key list", .usage, "--file FILE"),
    ("martlet access key list --file none.json", .io, "none.json cannot be read"),
    ("echo '{\"keys\":[{}]}' > a; martlet access key list --file a", .badData, "a: keys[0] has no \"name\"."),
    ("martlet access key create a --at 1", .usage, "--at is not an option of key create"),
    ("martlet access key create a --operations read,fly", .usage, "--operations names 'fly'"),
    ("martlet access key create a --models Note,", .usage, "--models needs names separated by commas, not 'Note,'"),
    ("martlet access key forge a", .usage, "Unknown action 'key forge'"),
    ("martlet access new a --file a >k; martlet access new a --file a", .badData, "two keys are called \"a\""),
    ("martlet access new a --file a >k; martlet access key revoke b --file a", .failure, "no key called \"b\""),
  ])
  func `a mistake is named and has its exit code`(script: String, code: ExitCode, message: String) async throws {
    let result = try await run(script)
    #expect(result.status == code.rawValue, "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test func `keys are created, listed and revoked, and the rest of the file stays`() async throws {
    let result = try await run(
      """
      echo '{"origins":["https://board.example"]}' > access.json
      martlet access key create board --file access.json > one.txt
      martlet access key create guest --expires-in 1d --file access.json > two.txt
      martlet access key list --file access.json
      martlet access key revoke board --file access.json > three.txt
      martlet access key list --file access.json
      grep -c origins access.json
      grep -o 'martlet_[0-9a-f]*' two.txt | tr -d '\\n' | sha256sum | cut -d ' ' -f 1 > digest
      grep -c -f digest access.json
      """)
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines.first == "board\tnever expires")
    #expect(lines.dropFirst().first?.hasPrefix("guest\texpires 20") ?? false)
    #expect(lines.suffix(2) == ["1", "1"])
  }

  @Test
  func `a file keeps its permissions when its keys change, a link to it stays one, and nothing is left beside it`()
    async throws
  {
    let result = try await run(
      """
      echo '{"guests":true}' > access.json; chmod 640 access.json; ln -s access.json link.json
      martlet access key create board --file access.json > /dev/null; stat -c %a access.json
      martlet access key create guest --file link.json > /dev/null; stat -c %a access.json; readlink link.json
      martlet access key revoke board --file link.json > /dev/null; stat -c %a access.json; readlink link.json
      martlet access key list --file access.json; ls -A
      """)
    #expect(
      result.output == """
        640
        640
        access.json
        640
        access.json
        guest\tnever expires
        access.json
        link.json

        """, "\(result.output) \(result.errors)")
  }

  @Test func `a name with a control character is refused, and the file stays as it was`() async throws {
    let result = try await run(
      """
      echo '{"guests":true}' > access.json
      martlet access key create $'new\\nline' --file access.json; echo $?; cat access.json
      """)
    #expect(result.output == "64\n{\"guests\":true}\n", "\(result.output)")
    #expect(result.errors.contains("A key's name is one line of text"), "\(result.errors)")
  }

  @Test func `a key is made for some operations and models, and keeps to them`() async throws {
    let result = try await run(
      """
      martlet access key create board --operations read,create --models Flight,Gate --file access.json > /dev/null
      martlet access key create app --models Flight --file access.json > /dev/null
      martlet access key list --file access.json
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.output == """
        board\tnever expires\toperations ["create","read"], models ["Flight","Gate"]
        app\tnever expires\tmodels ["Flight"]

        """, "\(result.output)")
  }

  @Test func `explain names the rule that lets a caller see each field, and why others do not`() async throws {
    let schema = """
      cat > s.graphql <<'END'
      type Note @model
        @auth(rules: [{ allow: owner }, { allow: groups, groups: ["staff"], operations: [read] }]) {
        id: ID!
        text: String
        secret: String @auth(rules: [{ allow: owner }])
      }
      END

      """
    func explain(_ caller: String, _ operation: String) async throws -> String {
      let result = try await run(schema + "martlet access explain --schema s.graphql --as '\(caller)' '\(operation)'")
      #expect(result.status == 0, "\(result.errors)")
      return result.output
    }
    let list = "{ listNotes { items { ...f } } } fragment f on Note { text secret }"
    #expect(
      try await explain(#"{"sub":"ada"}"#, list) == """
        listNotes: list Note is allowed where owner is "ada"
          line 2, owner in owner: allows where owner is "ada"
          line 2, groups staff: names another caller
          .text: shown
          .secret: shown where owner is "ada"
            line 5, owner in owner: allows where owner is "ada"

        """)
    let staff = try await explain(
      #"{"sub":"eve","groups":["staff"]}"#, "mutation { deleteNote(input: {id: 1}) { id } }")
    #expect(staff.hasPrefix("deleteNote: delete Note is allowed where owner is \"eve\"\n"))
    #expect(staff.contains("line 2, groups staff: not for delete\n"))
    #expect(staff.contains("  returned: get Note is allowed\n"))
    #expect(try await explain("guest", "subscription { onCreateNote { id } }").contains("not for callers by guest"))
    let wrong = try await run(schema + "martlet access explain --schema s.graphql --as '[]' '{ a }'")
    #expect(wrong.status == ExitCode.usage.rawValue)
    let unknown = try await run(schema + "martlet access explain --schema s.graphql --as guest '{ nothing }'")
    #expect(unknown.status == ExitCode.badData.rawValue)
    #expect(unknown.errors.contains("The operation does not fit the schema: "), "\(unknown.errors)")
  }

  @Test func `explain names what filters, orders and inputs read and write that the caller may not`() async throws {
    let schema = """
      cat > s.graphql <<'END'
      type Book @model @auth(rules: [{ allow: owner }, { allow: groups, groups: ["staff"] }]) {
        id: ID!
        title: String
        secret: String @auth(rules: [{ allow: owner }])
        audit: String @auth(rules: [{ allow: groups, groups: ["audit"] }])
        shelf: ID @index(name: "byShelf", sortKeyFields: ["secret"], queryField: "booksByShelf")
      }
      END

      """
    func explain(_ operation: String) async throws -> String {
      let result = try await run(
        schema
          + #"martlet access explain --schema s.graphql --as '{"sub":"ada","groups":["staff"]}' '\#(operation)'"#)
      #expect(result.status == 0, "\(result.errors)")
      return result.output
    }
    let filter =
      #"{ listBooks(filter: {or: [{secret: {eq: "x"}}, {not: {audit: {eq: "y"}}}], title: {eq: "z"}}) { items { id } } }"#
    let read = try await explain(filter)
    #expect(read.contains("\n  filter reads secret: it counts as null where it is hidden\n"), "\(read)")
    #expect(read.contains("\n  filter reads audit: refused, because it is hidden\n") && !read.contains("reads title"))
    let ordered = try await explain(#"{ booksByShelf(shelf: "1") { items { id } } }"#)
    #expect(ordered.contains("\n  ordered by secret: refused, because it may be hidden\n"), "\(ordered)")
    let written = try await explain(
      #"mutation { transaction(writes: [{createBook: {id: "1", audit: "x"}}, {deleteBook: {id: "2"}}]) { __typename } }"#
    )
    #expect(written.contains("\n  createBook: create Book is allowed\n"), "\(written)")
    #expect(written.contains("\n    writes audit: is refused\n") && written.contains("\n  deleteBook: delete Book"))
    let update = try await explain(
      #"mutation { updateBook(input: {id: "1", secret: "x"}, condition: {audit: {eq: "y"}}) { id } }"#)
    #expect(update.contains("\n  writes secret: is allowed where owner is \"ada\"\n"), "\(update)")
    #expect(update.contains("\n  condition reads audit: refused, because it is hidden\n"))
  }
}
