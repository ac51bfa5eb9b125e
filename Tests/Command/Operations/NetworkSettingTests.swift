import Foundation
import MartletCommandLine
import MartletServer
import MartletTestSupport
import Testing

@testable import MartletCommand

/// Private authorities and proxies, as options and variables name them, for the command as a process.
@Suite(.timeLimit(.minutes(2))) struct NetworkSettingTests {
  /// Runs a server over TLS whose certificate no system trusts.
  private static func withServer(_ body: (_ server: GraphQLServer, _ authority: String) async throws -> Void)
    async throws
  {
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
    configuration.certificate = .init(certificateFile: certificate, keyFile: key)
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

  @Test func `--cacert and SSL_CERT_FILE name the authority for HTTP and WebSockets, and without them it is unknown`()
    async throws
  {
    try await Self.withServer { server, authority in
      for command in Self.commands(server, "--cacert \(authority)") {
        let run = try await ShellRun.bash(command)
        #expect(run.status == 0 && run.output.contains(#""text":"a""#), "\(command): \(run.errors)")
      }
      for command in Self.commands(server) {
        let run = try await ShellRun.bash("SSL_CERT_FILE=\(authority) \(command)")
        #expect(run.status == 0 && run.output.contains(#""text":"a""#), "\(command): \(run.errors)")
        let refused = try await ShellRun.bash(command)
        #expect(refused.status == ExitCode.unavailable.rawValue, "\(command): \(refused.errors)")
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

  @Test func `every command that talks to a server has --cacert`() {
    let specifications = Subcommands.specifications.filter { $0.options.contains { $0.name == "cacert" } }
    #expect(Set(specifications.map(\.name)) == ["query", "mutate", "subscribe", "import", "generate", "channels"])
  }
}
