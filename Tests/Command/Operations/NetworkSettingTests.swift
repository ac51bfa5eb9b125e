import Foundation
import MartletCommandLine
import MartletServer
import MartletTestSupport
import Testing

@testable import MartletCommand

/// Private authorities and proxies, as options and variables name them, for the command as a process.
@Suite(.timeLimit(.minutes(2))) struct NetworkSettingTests {
  /// TLS in front of a plain server, which accepts only clients with the certificate that it is given. Prints its port.
  private static let front = #"""
    import socket, ssl, sys, threading
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(sys.argv[3])
    def pump(source, sink):
        try:
            while data := source.recv(65536): sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError: pass
    def serve(client):
        try: client = context.wrap_socket(client, server_side=True)
        except OSError: return
        server = socket.create_connection(("127.0.0.1", int(sys.argv[4])))
        threading.Thread(target=pump, args=(server, client), daemon=True).start()
        pump(client, server)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """#

  /// Runs a server over TLS whose certificate no system trusts.
  private static func withServer(
    isSecure: Bool = true, _ body: (_ server: GraphQLServer, _ authority: String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (certificate, key) = (folder.path + "/cert.pem", folder.path + "/key.pem")
    let made = try Process.run(
      URL(fileURLWithPath: "/usr/bin/openssl"),
      arguments: [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
        certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
      ])
    made.waitUntilExit()
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.data = .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.channels = ChannelConfiguration()
    if isSecure { configuration.certificate = .init(certificateFile: certificate, keyFile: key) }
    let server = try GraphQLServer(configuration)
    try server.start()
    try await server.transaction { try $0.create("Note", ["id": "1", "text": "a"]) }
    do { try await body(server, certificate) } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// A query by HTTP and a subscription by WebSocket, each of which prints one line.
  private static func commands(_ server: GraphQLServer, _ options: String = "") -> [String] {
    let address = "https://localhost:\(server.port)"
    return [
      "martlet query \(address) '{ getNote(id: 1) { text } }' --compact \(options)",
      "martlet subscribe \(address) 'subscription { onCreateNote { text } }' --from oldest --limit 1 --attempts 0"
        + " \(options)",
    ]
  }

  /// One call of each command that talks to a server, with what it prints.
  private static let calls = [
    ("query", "URL '{ getNote(id: 1) { text } }' --compact", #""text":"a""#),
    ("mutate", "URL 'mutation { updateNote(input: {id: 1, text: \"a\"}) { text } }' --compact", #""text":"a""#),
    (
      "subscribe", "URL 'subscription { onCreateNote { text } }' --from oldest --limit 1 --attempts 0",
      #""text":"a""#
    ),
    ("import", "URL Note rows.csv", "Imported 1 row"),
    ("generate", "--schema URL --operations n.graphql --output API.swift", "1 file"),
    ("channels", "list URL", "There are no subscriptions."),
  ]

  @Test(arguments: calls)
  func `--cacert and SSL_CERT_FILE name the authority for every command, and without them it is unknown`(
    name: String, words: String, printed: String
  ) async throws {
    try await Self.withServer { server, authority in
      let call = "martlet \(name) \(words.replacing("URL", with: "https://localhost:\(server.port)"))"
      let files = """
        cd "$(mktemp -d)" && printf 'id,text\\n2,b\\n' > rows.csv
        echo 'query N { getNote(id: "1") { text } }' > n.graphql

        """
      for command in ["\(call) --cacert \(authority)", "SSL_CERT_FILE=\(authority) \(call)"] {
        let run = try await ShellRun.bash(files + command)
        #expect(run.status == 0 && run.output.contains(printed), "\(command): \(run.output) \(run.errors)")
      }
      let refused = try await ShellRun.bash(files + call)
      #expect(refused.status == ExitCode.unavailable.rawValue, "\(call): \(refused.errors)")
      #expect(refused.errors.contains("is not accepted"), "\(call): \(refused.errors)")
    }
  }

  @Test func `a refusal behind an authority of SSL_CERT_FILE is reported as the refusal, by every protocol`()
    async throws
  {
    try await Self.withServer { server, authority in
      for route in SubscriptionRoute.all.map(\.name) {
        let run = try await ShellRun.bash(
          "SSL_CERT_FILE=\(authority) martlet subscribe https://localhost:\(server.port)/nowhere"
            + " 'subscription { onCreateNote { text } }' --protocol \(route) --attempts 0")
        #expect(run.errors.contains("serves nothing at /nowhere"), "\(route): \(run.errors)")
      }
    }
  }

  @Test(arguments: [
    ("HTTPS_PROXY", "", true), ("https_proxy", "", true), ("ALL_PROXY", "", true),
    ("HTTPS_PROXY", "NO_PROXY=example.test,localhost", false), ("https_proxy", "no_proxy=*", false),
    ("HTTPS_PROXY", "NO_PROXY=example.test", true), ("http_proxy", "", false),
  ])
  func `the variables of proxies hold for HTTP and WebSockets`(variable: String, exception: String, isUsed: Bool)
    async throws
  {
    try await Self.withServer { server, authority in
      let proxy = try ConnectProxy()
      defer { proxy.stop() }
      for command in Self.commands(server, "--cacert \(authority)") {
        let seen = proxy.requests.count
        let run = try await ShellRun.bash("\(variable)=http://127.0.0.1:\(proxy.port) \(exception) \(command)")
        #expect(run.status == 0 && run.output.contains(#""text":"a""#), "\(command): \(run.errors)")
        #expect((proxy.requests.count > seen) == isUsed, "\(command)")
      }
      let expected = "CONNECT localhost:\(server.port) HTTP/1.1"
      #expect(proxy.requests.allSatisfy { $0 == expected })
    }
  }

  @Test func `--cert and --key are shown to a server that asks for a certificate, by HTTP and WebSocket`()
    async throws
  {
    try await Self.withServer(isSecure: false) { server, _ in
      let run = try await ShellRun.bash(
        """
        cd $(mktemp -d) && cat > front.py <<'END'
        \(Self.front)
        END
        for name in server client; do
          openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.pem \
            -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2> /dev/null || exit 9
        done
        cat client.pem client.key > both.pem
        python3 front.py server.pem server.key client.pem \(server.port) > port 2> /dev/null & front=$!
        trap "kill -9 $front" EXIT  # The tests' process may have its children block the other signals.
        until [ -s port ]; do sleep 0.05; done
        url=https://localhost:$(cat port)
        for shown in "--cert client.pem --key client.key" "--cert both.pem"; do
          martlet mutate $url 'mutation { createNote(input: {text: "a"}) { text } }' --compact --cacert server.pem $shown
          martlet subscribe $url 'subscription { onCreateNote { text } }' --from oldest --limit 1 --attempts 0 \
            --cacert server.pem $shown
        done
        martlet query $url '{ listNotes { items { text } } }' --cacert server.pem && exit 8
        martlet query $url '{ listNotes { items { text } } }' --cacert server.pem --cert client.pem --key server.key
        [ $? = 69 ] || exit 7
        """)
      #expect(run.status == 0, "\(run.output) \(run.errors)")
      #expect(run.output.split(separator: "\n").count == 4, "\(run.output)")
    }
  }

  @Test func `--pin accepts a server with that key alone, by HTTP and WebSocket`() async throws {
    try await Self.withServer { server, authority in
      let digest = try await ShellRun.bash(
        """
        openssl x509 -in \(authority) -pubkey -noout | openssl pkey -pubin -outform der \
          | openssl dgst -sha256 -binary | base64
        """
      ).output.trimmingCharacters(in: .whitespacesAndNewlines)
      let other = Data(count: 32).base64EncodedString()
      for command in Self.commands(server, "--cacert \(authority)") {
        let good = try await ShellRun.bash("\(command) --pin \(other) --pin \(digest)")
        #expect(good.status == 0 && good.output.contains(#""text":"a""#), "\(command): \(good.errors)")
        let bad = try await ShellRun.bash("\(command) --pin \(other)")
        #expect(bad.status == ExitCode.unavailable.rawValue, "\(command): \(bad.errors)")
      }
    }
  }

  @Test(arguments: [
    ("--pin abc", ExitCode.usage, "--pin must be a SHA-256 digest in base64, 44 characters, not 'abc'."),
    ("--key /dev/null", .badData, "/dev/null has no private key."),
    ("--cert /dev/null", .badData, "/dev/null has no certificate."),
    ("--cacert /dev/null", .badData, "/dev/null has no certificates."),
  ])
  func `settings that cannot be used are refused before anything is sent`(
    option: String, code: ExitCode, message: String
  ) async throws {
    let run = try await ShellRun.bash("martlet query https://localhost:1 '{ __typename }' \(option)")
    #expect(run.status == code.rawValue && run.errors.contains(message), "\(run.errors)")
  }

  @Test func `every command that talks to a server has the options of trust`() {
    for option in ["cacert", "cert", "key", "pin"] {
      let specifications = Subcommands.specifications.filter { $0.options.contains { $0.name == option } }
      #expect(Set(specifications.map(\.name)) == Set(Self.calls.map(\.0)), "--\(option)")
    }
  }
}
