import Foundation
import MartletServer

/// A server of one's own under systemd (`Type=exec`) or in a container: settings come from the environment, the log
/// goes to standard error, and SIGTERM ends it after running operations have finished.
enum ServeAsService {
  static func configuration(
    schema: String, environment: [String: String], process: Int32
  ) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    // StateDirectory= and ConfigurationDirectory= of the unit.
    configuration.data = .folder((environment["STATE_DIRECTORY"] ?? ".") + "/data")
    let access = (environment["CONFIGURATION_DIRECTORY"] ?? ".") + "/access.json"
    configuration.access = .keys(try AccessFile(String(contentsOfFile: access, encoding: .utf8)))
    configuration.log = .standardError(.jsonLines)
    // The proxy on this machine says which address a client has.
    configuration.trustedProxies = ["127.0.0.1"]
    configuration.port = environment["PORT"].flatMap { Int($0) } ?? 8_080
    // Health and figures without a key, for this machine alone.
    configuration.adminPort = environment["ADMIN_PORT"].flatMap { Int($0) } ?? 8_081
    // A socket unit has opened the port: the first descriptor after standard error.
    if environment["LISTEN_PID"] == "\(process)", environment["LISTEN_FDS"] == "1" {
      configuration.listeningSocket = 3
    }
    if let collector = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
      configuration.tracing = TracingConfiguration(endpoint: collector)
    }
    return configuration
  }

  /// Until SIGTERM or SIGINT.
  static func run(schema: String) async throws {
    let system = ProcessInfo.processInfo
    let configuration = try configuration(
      schema: schema, environment: system.environment, process: system.processIdentifier)
    try await GraphQLServer(configuration).run()
  }
}
