import Foundation
import MartletCommandLine
import MartletServer
import Testing

@testable import MartletCommand

/// The walk over every protocol and cause: command, the server's state, protocol -> exit code and first line.
@Suite(.serialized, .timeLimit(.minutes(4))) struct CauseTableTests {
  /// What a server is like when the command meets it.
  enum State: String, CaseIterable {
    case down, keyNeeded, keyUnknown, host, origin, speaksTLS, speaksPlain, certificate, path, otherKind, syntax
    case noAuthority, badAuthority, ownHeader

    /// Whether a subscription ends without --attempts.
    var isFinal: Bool { self != .down }
  }

  /// A command without its URL.
  struct Way: CustomTestStringConvertible {
    let command: String
    /// What follows the URL.
    let document: String
    /// The same with a document of another kind; nil for commands that take none.
    var wrongKind: String?
    var options = ""
    var testDescription: String { "\(command) \(options)" }

    func fits(_ state: State) -> Bool {
      switch state {
      case .otherKind, .syntax: wrongKind != nil
      // AppSync's handshake carries no header fields of the caller.
      case .origin: !options.contains("appsync")
      default: true
      }
    }
  }

  private static let ways =
    [
      Way(
        command: "query", document: "{ listTs { items { id } } }",
        wrongKind: "mutation { deleteT(input: {id: 1}) { id } }"),
      Way(
        command: "mutate", document: "mutation { createT(input: {}) { id } }", wrongKind: "{ listTs { items { id } } }"),
    ]
    + [
      Way(command: "import", document: "T rows.csv"),
      Way(command: "import", document: "T rows.csv --schema schema.graphql"),
      Way(command: "generate --output types.swift --schema", document: ""),
      Way(command: "channels list", document: ""),
    ]
    + SubscriptionRoute.all.map {
      Way(
        command: "subscribe", document: "subscription { onCreateT { id } }", wrongKind: "{ listTs { items { id } } }",
        options: "--protocol \($0.name) --limit 1")
    }

  /// Three servers: open to this machine, with a key, and with TLS.
  private struct Servers {
    let open: GraphQLServer
    let keyed: GraphQLServer
    let secure: GraphQLServer

    init(_ folder: URL) throws {
      let made = try Process.run(
        URL(fileURLWithPath: "/usr/bin/openssl"),
        arguments: [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder.path + "/key.pem", "-out",
          folder.path + "/cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        ])
      made.waitUntilExit()
      func start(_ adjust: (inout ServerConfiguration) throws -> Void) throws -> GraphQLServer {
        var configuration = ServerConfiguration(schema: "type T @model { id: ID! }")
        configuration.access = .development
        configuration.log = .silent
        configuration.channels = ChannelConfiguration()
        try adjust(&configuration)
        let server = try GraphQLServer(configuration)
        try server.start()
        return server
      }
      open = try start { _ in }
      keyed = try start {
        $0.access = .keys(try AccessFile(#"{"keys":[{"name":"a","sha256":"\#(String(repeating: "0", count: 64))"}]}"#))
      }
      secure = try start {
        $0.certificate = .init(certificateFile: folder.path + "/cert.pem", keyFile: folder.path + "/key.pem")
      }
    }

    func stop() async {
      for server in [open, keyed, secure] { await server.stop() }
    }
  }

  /// The end of a command line for a state, what it exits with and what its first line holds.
  private static func row(_ state: State, _ servers: Servers, down: Int, _ way: Way) -> (String, ExitCode, String) {
    let (open, keyed, secure) = (servers.open.port, servers.keyed.port, servers.secure.port)
    let document = way.wrongKind == nil ? way.document : "'\(way.document)'"
    return switch state {
    case .down:
      ("127.0.0.1:\(down) \(document)", .unavailable, "No server answers at 127.0.0.1:\(down): Connection refused.")
    case .keyNeeded: ("127.0.0.1:\(keyed) \(document)", .denied, "A key is needed: --header x-api-key:KEY.")
    case .keyUnknown:
      ("127.0.0.1:\(keyed) \(document) --header x-api-key:no", .denied, "This key is not known to the server")
    case .host:
      ("http://0:\(open) \(document)", .denied, "The server refuses the request: The Host header does not name")
    case .origin:
      (
        "127.0.0.1:\(open) \(document) --header Origin:http://evil.example", .denied,
        "The server refuses the request: The Origin header does not belong"
      )
    case .speaksTLS:
      (
        "http://127.0.0.1:\(secure) \(document)", .unavailable,
        "The server at 127.0.0.1:\(secure) speaks TLS: write https://"
      )
    case .speaksPlain:
      (
        "https://127.0.0.1:\(open) \(document)", .unavailable,
        "The server at 127.0.0.1:\(open) does not speak TLS: write http://"
      )
    case .certificate:
      (
        "https://127.0.0.1:\(secure) \(document)", .unavailable,
        "The certificate of 127.0.0.1:\(secure) is not accepted: "
      )
    case .path: ("127.0.0.1:\(open)/nothing \(document)", .unavailable, "The server serves nothing at /nothing.")
    case .noAuthority:
      (
        "https://127.0.0.1:\(secure) \(document) --cacert none.pem", .io,
        "none.pem cannot be read: there is no such file."
      )
    case .badAuthority:
      ("https://127.0.0.1:\(secure) \(document) --cacert rows.csv", .badData, "rows.csv has no certificates.")
    case .ownHeader:
      (
        "127.0.0.1:\(open) \(document) --header Host:example.org", .usage,
        "--header: the header Host is the client's own."
      )
    case .otherKind: ("127.0.0.1:\(open) '\(way.wrongKind ?? "")'", .usage, "The document is a ")
    case .syntax: ("127.0.0.1:\(open) '\(way.document.dropLast(2))'", .badData, "Syntax Error: ")
    }
  }

  @Test func `every cause has one exit code and one sentence over every command and protocol`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("causes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let servers = try Servers(folder)
    let down = try await TutorialTests.freePort()
    try "type T @model { id: ID! }".write(
      to: folder.appendingPathComponent("schema.graphql"), atomically: true, encoding: .utf8)
    try "id\n1\n".write(to: folder.appendingPathComponent("rows.csv"), atomically: true, encoding: .utf8)
    for way in Self.ways {
      for state in State.allCases where way.fits(state) {
        var (end, code, line) = Self.row(state, servers, down: down, way)
        // A schema without a scheme is a file's name.
        if way.command.hasPrefix("generate"), !end.hasPrefix("http") { end = "http://" + end }
        // What waiting can repair is waited for, unless it is said otherwise.
        let options = way.options + (state.isFinal || way.command != "subscribe" ? "" : " --attempts 0")
        let run = try await ShellRun.bash("timeout 20 martlet \(way.command) \(end) \(options)", in: folder)
        let first = run.errors.split(separator: "\n").first.map(String.init) ?? ""
        #expect(run.status == code.rawValue, "\(way.testDescription) \(state): \(run.errors)")
        #expect(first.hasPrefix(line), "\(way.testDescription) \(state): \(run.errors)")
        // The server's list of paths is the only second line.
        let lines = state == .path ? 2 : 1
        #expect(run.errors.split(separator: "\n").count == lines, "\(way.testDescription) \(state): \(run.errors)")
        #expect(run.output.isEmpty, "\(way.testDescription) \(state): \(run.output)")
      }
    }
    await servers.stop()
  }

  @Test(arguments: [
    ("--tls-certificate none.pem --tls-key none.pem", ExitCode.io, "none.pem cannot be read: there is no such file."),
    ("--tls-certificate s --tls-key s", .badData, "certificate file s: "),
    ("--address localhost", .success, "The server is listening."),
  ])
  func `what serve is given is judged before it serves`(options: String, code: ExitCode, message: String) async throws {
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; echo 'type T @model { id: ID! }' > s
      martlet serve s --memory --dev --port 0 \(options) > out 2> err & pid=$!
      for i in $(seq 100); do grep -q Serving out && break; kill -0 $pid 2>/dev/null || break; sleep 0.05; done
      kill -TERM $pid 2>/dev/null; wait $pid; code=$?; cat err >&2; exit $code
      """)
    #expect(run.status == code.rawValue, "\(run.errors)")
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  /// Commands that need no server: what they are given -> exit code and first line.
  @Test(arguments: [
    ("martlet schema check none.graphql", ExitCode.io, "none.graphql cannot be read: there is no such file."),
    ("martlet schema check <(cat good.graphql)", .success, ""),
    ("cat good.graphql | martlet schema check /dev/stdin", .success, ""),
    ("martlet schema check .", .io, ". cannot be read: it is a folder."),
    ("martlet schema check bad.graphql", .badData, "bad.graphql:2:1: "),
    ("martlet schema diff good.graphql", .usage, "diff needs two files: martlet schema diff OLD NEW."),
    ("martlet schema diff good.graphql gone.graphql", .failure, ""),
    ("martlet serve none.graphql --memory --dev", .io, "none.graphql cannot be read: there is no such file."),
    ("martlet serve bad.graphql --memory --dev", .badData, "bad.graphql:2:1: "),
    ("martlet serve good.graphql --memory --port 0", .configuration, ""),
    ("martlet serve good.graphql --dev", .usage, "Say where the data lives: --data DIR"),
    ("martlet serve good.graphql --memory --dev --port 99999", .usage, "--port must be a whole number from 0 to 65535"),
    ("martlet serve good.graphql --memory --access bad.json", .configuration, "bad.json: "),
    ("martlet backup none copy", .io, ""),
    ("martlet check none", .io, ""),
    (
      "martlet generate --schema none.graphql --output a.swift", .io,
      "none.graphql cannot be read: there is no such file."
    ),
    ("martlet generate --schema bad.graphql --output a.swift", .badData, "bad.graphql:2:1: "),
    ("martlet import localhost:1 T none.csv", .io, "none.csv cannot be read: there is no such file."),
    ("martlet import localhost:1 T good.graphql", .usage, "The format of good.graphql is not clear from its name"),
    ("martlet import localhost:1 T rows.csv --format cvs", .usage, "--format must be one of csv, jsonl, not 'cvs'."),
    ("martlet import good.graphql export.json --from firebase", .usage, "Missing operand RULES."),
    ("martlet import a b c d --from firebase", .usage, "Unexpected operand 'd'."),
    ("martlet access key list --file none.json", .io, "none.json cannot be read: there is no such file."),
    ("martlet rules check none.json", .io, "none.json cannot be read: there is no such file."),
    ("martlet rules check bad.json", .badData, "bad.json:2:1: "),
    ("martlet completion tcsh", .usage, "SHELL must be one of bash, zsh, fish, not 'tcsh'."),
    ("martlet help srve", .usage, "Unknown subcommand 'srve'. Did you mean 'serve'?"),
    ("martlet srve", .usage, "Unknown subcommand 'srve'. Did you mean 'serve'?"),
    ("martlet query", .usage, "Missing operand URL."),
    ("martlet query localhost:1 @none.graphql", .io, "none.graphql cannot be read: there is no such file."),
    ("martlet query localhost:1 '{ a }' --variables '{'", .usage, ""),
    ("martlet query localhost:1 '{ a }' b", .usage, "Unexpected operand 'b'."),
    ("martlet query localhost:99999 '{ a }'", .usage, "'localhost:99999' has a port that is not a number from 1 to"),
    ("martlet query 'ws://[::1]:x/graphql' '{ a }'", .usage, "'ws://[::1]:x/graphql' has a port that is not a number"),
    ("martlet query 'http://[::1]:1' '{ a }'", .unavailable, "No server answers at [::1]:1: Connection refused."),
    ("martlet channels list localhost:0", .usage, "'localhost:0' has a port that is not a number from 1 to 65535."),
    ("martlet access key revoke a --file none.json", .io, "none.json cannot be read: there is no such file."),
  ])
  func `a command that needs no server has one exit code and one first line`(
    script: String, code: ExitCode, line: String
  ) async throws {
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; echo 'type T @model { id: ID! a: Int }' > good.graphql
      echo 'type T @model { id: ID! }' > gone.graphql; echo 'type T {' > bad.graphql; echo '{' > bad.json
      printf 'id\n1\n' > rows.csv
      \(script)
      """)
    #expect(run.status == code.rawValue, "\(run.errors)")
    let first = run.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.hasPrefix(line), "\(run.errors)")
    // An advice may follow; a cause is said once.
    let lines = run.errors.split(separator: "\n")
    #expect(Set(lines).count == lines.count, "\(run.errors)")
  }

  @Test(arguments: [
    ("martlet schema chek a", "ACTION must be one of print, check, diff, not 'chek'. Did you mean check?"),
    ("martlet completion zhs", "SHELL must be one of bash, zsh, fish, not 'zhs'. Did you mean zsh?"),
    (
      "martlet query h 'query A { a } query B { b }'",
      "The document has several operations; --operation names one: A, B."
    ),
    ("martlet query h 'query Alpha { a } query B { b }' --operation Alpa", "Did you mean Alpha?"),
    ("martlet access key revok joe", "Did you mean key revoke?"),
    ("martlet access tokn check x", "Did you mean token check?"),
    ("martlet serve s.graphql --trace http://h", "Unknown option --trace. Did you mean --trace-to?"),
    ("martlet generate --acess public", "Unknown option --acess. Did you mean --access?"),
  ])
  func `a word that is nearly right is named`(script: String, message: String) async throws {
    let run = try await ShellRun.bash(script)
    #expect(run.status == ExitCode.usage.rawValue)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test func `completion offers the words of an operand, and escapes what a shell would read`() async throws {
    let script = try Completion.script(for: "bash", commands: Subcommands.specifications)
    let run = try await ShellRun.bash(
      script
        + "\nCOMP_WORDS=(martlet schema ch); COMP_CWORD=2; _martlet; echo \"${COMPREPLY[@]}\""
        + "\nCOMP_WORDS=(martlet help gen); COMP_CWORD=2; _martlet; echo \"${COMPREPLY[@]}\""
        + "\nCOMP_WORDS=(martlet serve s --port ''); COMP_CWORD=4; _martlet; echo \"[${COMPREPLY[@]}]\""
        + "\nCOMP_WORDS=(martlet ser); COMP_CWORD=1; _martlet; echo \"${COMPREPLY[@]}\""
        // Options and their values are not operands.
        + "\nCOMP_WORDS=(martlet schema --x --help che); COMP_CWORD=4; _martlet; echo \"${COMPREPLY[@]}\""
        + "\nCOMP_WORDS=(martlet subscribe u --limit 3 --protocol ss); COMP_CWORD=6; _martlet; echo \"${COMPREPLY[@]}\""
        // A URL is not a file, a CSV is.
        + "\ncd \"$(mktemp -d)\"; touch file.csv"
        + "\nCOMP_WORDS=(martlet import ''); COMP_CWORD=2; _martlet; [[ \" ${COMPREPLY[*]} \" == *file.csv* ]] || echo none"
        + "\nCOMP_WORDS=(martlet import --batch 3 u M fi); COMP_CWORD=6; _martlet; echo \"${COMPREPLY[@]}\"")
    #expect(run.output == "check\ngenerate\n[]\nserve\ncheck\nsse sse-single\nnone\nfile.csv\n", "\(run.errors)")
    let odd = CommandSpecification(
      name: "odd", summary: "It's [a] b:c.",
      options: [
        .init(name: "x", value: "N:V", help: "don't: [y]"),
        .init(name: "w", value: "W", help: "w", choices: [.init("one", "it's \"1\""), .init("two", "2")]),
      ])
    let zsh = try Completion.script(for: "zsh", commands: [odd])
    #expect(zsh.contains(#"'odd[It'\''s \[a\] b\:c.]'"#))
    #expect(zsh.contains(#"'--x[don'\''t\: \[y\]]:N\:V: '"#))
    let fish = try Completion.script(for: "fish", commands: [odd])
    #expect(fish.contains(#"-d 'It\'s [a] b:c.'"#))
    // Each value has a description of its own.
    #expect(zsh.contains(#":W:((one\:"it'\''s \"1\"" two\:"2"))'"#), "\(zsh)")
    #expect(fish.contains(#"(printf \'%s\\t%s\\n\' \'one\'"#), "\(fish)")
  }
}
