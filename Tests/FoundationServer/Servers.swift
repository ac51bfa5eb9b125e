import Foundation
import Martlet
import MartletFoundationNetwork
import MartletTestSupport
import Testing

/// The servers of these tests: processes, so that what builds the client over Foundation's network does not build the
/// server again.
enum Servers {
  /// `martlet serve` with one model.
  static func notes(_ more: [String] = [], folder: String? = nil, port: Int = 0) async throws -> (
    program: RunningProgram, url: URL
  ) {
    let schema = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).graphql")
    defer { try? FileManager.default.removeItem(at: schema) }
    try "type Note @model { id: ID! text: String }".write(to: schema, atomically: true, encoding: .utf8)
    let data = folder.map { ["--data", $0] } ?? ["--memory"]
    let program = try RunningProgram(
      "martlet", ["serve", schema.path, "--dev", "--port", "\(port)", "--log-level", "error"] + data + more)
    // "Serving SCHEMA on URL", once it serves.
    let said = await program.line()
    guard let url = said.split(separator: " ").last.flatMap({ URL(string: String($0)) }), url.port != nil else {
      program.stop()
      throw Programs.Failure("martlet serve said \"\(said)\"")
    }
    return (program, url)
  }

  /// The same on a port that another server can take after it. Of the ports that the system gives out by itself, a
  /// connection of any process may take one in between, so that this one is below them.
  static func notesToRestart(folder: String) async throws -> (program: RunningProgram, url: URL) {
    for _ in 0..<20 {
      if let server = try? await notes(folder: folder, port: Int.random(in: 20_000..<32_000)) { return server }
    }
    throw Programs.Failure("no port is free")
  }

  static func withNotes(_ body: (URL) async throws -> Void) async throws {
    let server = try await notes()
    defer { server.program.stop() }
    try await body(server.url)
  }

  /// The server with fields, uploads and endpoints in Swift.
  static func withPeer(_ body: (URL) async throws -> Void) async throws {
    let program = try RunningProgram("FoundationPeer", [], holdsInput: true)
    defer { program.stop() }
    let said = await program.line()
    try await body(try #require(URL(string: said), "\(said)"))
  }

  /// A client over Foundation's network: its default where the package is built with it, as on Apple platforms.
  static func client(
    _ url: URL, _ environment: ClientEnvironment? = nil,
    _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.reconnect.longestDelay = .milliseconds(100)
    configure(&configuration)
    let isDefault = ProcessInfo.processInfo.environment["MARTLET_NETWORK"] == "foundation"
    return try GraphQLClient(
      url: url, configuration: configuration,
      environment: environment ?? (isDefault ? nil : FoundationEnvironment.shared))
  }
}

extension URL {
  /// The same server's other path.
  func path(_ path: String) -> URL { deletingLastPathComponent().appendingPathComponent(path) }
}
