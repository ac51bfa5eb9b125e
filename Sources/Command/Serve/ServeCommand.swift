import Foundation
import MartletCommandLine
import MartletSQLite
import MartletServer

/// `martlet serve SCHEMA --data DIR --port N`.
enum ServeCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "serve", summary: "Serve a schema of @model types.",
    operands: [.init(name: "SCHEMA", help: "the schema's file")],
    options: [
      .init(name: "data", value: "DIR", help: "the data folder, made when missing"),
      .init(name: "create", value: nil, help: "make a new store in a data folder that holds other files"),
      .init(name: "memory", value: nil, help: "keep data in memory only, in place of --data"),
      .init(name: "port", value: "N", help: "the port (default 8080; 0 takes a free one)"),
      .init(name: "address", value: "IP", help: "the address to bind, or localhost (default 127.0.0.1)"),
      .init(name: "dev", value: nil, help: "open to this machine, without keys, with introspection"),
      .init(name: "access", value: "FILE", help: "the access file that names API keys"),
      .init(
        name: "query-credentials", value: nil,
        help: "accept credentials in the query of /PATH.json, as auth or access_token; default: in header fields alone"
      ),
      .init(
        name: "introspection", value: nil,
        help: "let every admitted caller ask for the schema; else only --dev and keys with \"introspection\": true"),
      .init(name: "tls-certificate", value: "FILE", help: "serve TLS with this certificate chain (PEM)"),
      .init(name: "tls-key", value: "FILE", help: "the certificate's private key (PEM)"),
      .init(
        name: "trust-proxy", value: "CIDR",
        help: "believe what proxies at these addresses say of their clients: Forwarded, X-Forwarded-For", repeats: true),
      .init(
        name: "proxy-protocol", value: nil,
        help: "expect a header of the PROXY protocol, version 2, from the trusted proxies, and refuse others"),
      .init(
        name: "admin-port", value: "N",
        help: "serve health and figures at this port of 127.0.0.1 alone (0 takes a free one)"),
      .init(name: "admin-address", value: "IP", help: "the address of --admin-port (default 127.0.0.1)"),
      .init(name: "audit", value: "FILE", help: "append who was admitted and what was refused, one JSON object a line"),
      .init(
        name: "watch", value: nil,
        help: "read schema, access file, certificate and rules again when one of their files changes, as on SIGHUP"),
      .init(
        name: "trace-to", value: "URL",
        help: "send traces to this OpenTelemetry collector, such as http://127.0.0.1:4318/v1/traces (default: none)"),
      .init(name: "retention", value: "TIME", help: "how long missed events can be caught up (default 7d)"),
      .init(
        name: "limit", value: "NAME=VALUE", help: "sets a bound, such as http.bodyBytes=4MiB; docs/guides/limits.md",
        repeats: true),
      .init(
        name: "limits", value: "FILE",
        help: "sets the bounds that a JSON file names, {\"http\": {\"bodyBytes\": \"4MiB\"}}; --limit comes after it"),
      .init(name: "loops", value: "N", help: "event loops (default: one fewer than cores)"),
      .init(
        name: "allow-duplicates", value: nil, help: "serve records that share what @hasOne gives to one, with a warning"
      ),
      .init(
        name: "rules", value: "FILE",
        help: "serve the synced tree at /.ws and /PATH.json under these rules; SIGHUP reads them again"),
      .init(
        name: "namespace", value: "NAME=FILE",
        help: "serve another tree under these rules to requests with ns=NAME; may be given several times", repeats: true
      ),
      .init(
        name: "tree-name", value: "NAME",
        help: "the first tree's own name: requests with ns=NAME are for it, as those without ns"),
      .init(
        name: "channels", value: "FILE",
        help: "deliver to the webhooks and devices of this JSON file; docs/guides/webhooks.md and push.md"),
      .init(name: "allow-dropping", value: nil, help: "let models and fields the schema lost go, with their data"),
      .init(
        name: "log-level", value: "LEVEL", help: "debug, info, warning or error (default info)",
        choices: Log.Level.allCases.map { .init("\($0)") }),
      .init(
        name: "log-format", value: "FORMAT",
        help: "text, or json for one object a line (default: text on a terminal, else json)",
        choices: Log.Format.allCases.map { .init($0.rawValue) }),
    ],
    examples: [
      ("martlet serve schema.graphql --data data --dev", "serves on http://127.0.0.1:8080/graphql"),
      (
        "martlet serve schema.graphql --data data --access access.json --address 0.0.0.0 "
          + "--tls-certificate chain.pem --tls-key key.pem",
        "serves holders of an API key, over TLS"
      ),
    ],
    discussion:
      "SIGINT and SIGTERM stop it gracefully: clients are asked to come back and resume where they were. SIGHUP reads "
      + "the schema, the access file and the certificate again: all of them take effect, or none; --watch does so when "
      + "one of them changes. The log goes to standard error. When it cannot be written, entries "
      + "are dropped and a later one says how many; the server serves on.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    SQLiteProcess.stopCountingAllocations()
    // Looked at before they are read, so that no change is missed.
    let watched = arguments.has("watch") ? WatchedFiles(Self.reloadedFiles(arguments)) : nil
    var configuration = try Self.configuration(arguments)
    try adoptSockets(&configuration, arguments)
    let server: GraphQLServer
    do {
      server = try GraphQLServer(configuration)
      let log = configuration.log
      server.onFailure { _ in
        // The server has logged the reason.
        log.flush()
        StandardStreams.end(with: .io)
      }
      try server.start()
    } catch {
      // Reported as `schema check` does: with the file and the location.
      if error.code == .schema { _ = try SchemaCommand.read(configuration.schema, of: arguments.operands[0]) }
      var text = error.description
      if error.code == .addressInUse {
        text += "; \(error.isOfAdministration ? "--admin-port" : "--port") takes another one, 0 a free one"
      }
      throw CommandFailure(Self.exitCode(error.code), text)
    }
    let signals = Signals.sequence([SIGINT, SIGTERM, SIGHUP])
    let scheme = configuration.certificate == nil ? "http" : "https"
    let host = configuration.address.contains(":") ? "[\(configuration.address)]" : configuration.address
    let served = "Serving \(arguments.operands[0]) on \(scheme)://\(host):\(server.port)/graphql"
    Console.announce(served)
    if configuration.adminPort != nil {
      Console.announce("Health and figures on http://\(configuration.adminAddress):\(server.adminPort)")
    }
    ServiceManager.report(.ready, served)
    for await event in ServeEvent.sequence(signals, watching: watched) {
      guard event == .reload else { break }
      ServiceManager.report(.reloading, "Reading schema, access file and certificate again")
      await Self.reload(server, arguments)
      ServiceManager.report(.ready, served)
    }
    ServiceManager.report(.stopping, "Waiting for operations and clients")
    Console.announce("Stopping; clients will resume.")
    await server.stop()
    return .success
  }

  /// The files that a reload reads.
  static func reloadedFiles(_ arguments: ParsedArguments) -> [String] {
    var named: [String] = []
    // What is wrong with it is said when it is used.
    if let access = arguments.value("access") { _ = try? accessFile(access, named: { named.append($0) }) }
    return [arguments.operands[0]]
      + ["access", "tls-certificate", "tls-key", "rules"].compactMap { arguments.value($0) } + named
      + arguments.all("namespace").compactMap {
        $0.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
      }
  }

  /// The trees beside the first one, with their rules as their files say now.
  private static func namespaces(_ arguments: ParsedArguments) throws -> [TreeNamespaceDeclaration] {
    try arguments.all("namespace").map { assignment in
      let parts = assignment.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw UsageError("--namespace needs NAME=FILE, not \"\(assignment)\".") }
      return TreeNamespaceDeclaration(parts[0], rules: try NamedFile.text(parts[1]))
    }
  }

  static func configuration(_ arguments: ParsedArguments) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: try NamedFile.text(arguments.operands[0]))
    configuration.schemaName = arguments.operands[0]
    switch (arguments.value("data"), arguments.has("memory")) {
    case (let folder?, false): configuration.data = .folder(folder)
    case (nil, true): configuration.data = .memory
    case (nil, false): throw UsageError("Say where the data lives: --data DIR, or --memory to forget it at the end.")
    case (_?, true): throw UsageError("--data and --memory exclude each other.")
    }
    switch (arguments.has("dev"), arguments.value("access")) {
    case (true, nil):
      configuration.access = .development
      configuration.showsCost = true
    case (false, let file?): configuration.access = .keys(try accessFile(file))
    case (false, nil): break
    case (true, _?): throw UsageError("--dev and --access exclude each other.")
    }
    if let port = try arguments.integer("port", in: 0...65_535) {
      configuration.port = port
    } else {
      configuration.port = 8_080
    }
    if let address = arguments.value("address") {
      // The usual name of this machine is one address of it here.
      configuration.address = address == "localhost" ? "127.0.0.1" : address
    }
    switch (arguments.value("tls-certificate"), arguments.value("tls-key")) {
    case (let certificate?, let key?):
      for file in [certificate, key] { _ = try NamedFile.text(file) }
      configuration.certificate = .init(certificateFile: certificate, keyFile: key)
    case (nil, nil): break
    case (_?, nil), (nil, _?): throw UsageError("TLS needs both --tls-certificate and --tls-key.")
    }
    configuration.trustedProxies = arguments.all("trust-proxy")
    configuration.expectsProxyProtocol = arguments.has("proxy-protocol")
    configuration.adminPort = try arguments.integer("admin-port", in: 0...65_535)
    if let address = arguments.value("admin-address") {
      guard configuration.adminPort != nil else { throw UsageError("--admin-address needs --admin-port.") }
      configuration.adminAddress = address
    }
    if let file = arguments.value("audit") {
      do {
        configuration.audit = try .file(appendingTo: file)
      } catch {
        throw CommandFailure(.io, error.description)
      }
    }
    configuration.tracing = arguments.value("trace-to").map { TracingConfiguration(endpoint: $0) }
    configuration.treeRules = try arguments.value("rules").map { try NamedFile.text($0) }
    configuration.treeName = arguments.value("tree-name")
    configuration.treeNamespaces = try namespaces(arguments)
    configuration.channels = try arguments.value("channels").map { try channels($0) }
    if let file = arguments.value("limits") { try setLimits(&configuration.limits, from: file) }
    if let retention = try arguments.duration("retention") { configuration.limits.store.retention = retention }
    for assignment in arguments.all("limit") {
      do {
        try configuration.limits.set(assignment)
      } catch {
        throw UsageError("--limit: \(error.description)")
      }
    }
    configuration.queryCredentials = arguments.has("query-credentials")
    if arguments.has("introspection") { configuration.allowsIntrospection = true }
    configuration.loops = try arguments.integer("loops", in: 1...256)
    configuration.allowsDropping = arguments.has("allow-dropping")
    configuration.allowsDuplicates = arguments.has("allow-duplicates")
    configuration.allowsCreating = arguments.has("create")
    let level = Log.Level.allCases.first { "\($0)" == arguments.value("log-level") } ?? .info
    let format = arguments.value("log-format").flatMap { Log.Format(rawValue: $0) }
    configuration.log = .standardError(format ?? (Console.isWatched ? .text : .jsonLines), level: level)
    return configuration
  }

  /// Sets the bounds that a file names.
  private static func setLimits(_ limits: inout ServerLimits, from path: String) throws(CommandFailure) {
    let text = try NamedFile.text(path)
    do {
      try limits.set(json: Array(text.utf8))
    } catch {
      throw CommandFailure(.configuration, "\(path):\(error.description)")
    }
  }

  /// - Parameter named: Called with the path of each file that the access file names.
  static func accessFile(
    _ path: String, named: @escaping (String) -> Void = { _ in }
  ) throws(CommandFailure) -> AccessFile {
    let text = try NamedFile.text(path)
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      return try AccessFile(
        text,
        reading: { name in
          let file = URL(fileURLWithPath: name, relativeTo: folder).path
          named(file)
          return try NamedFile.text(file)
        })
    } catch {
      throw CommandFailure(.configuration, "\(path): \(error.description)")
    }
  }

  private static func channels(_ path: String) throws(CommandFailure) -> ChannelConfiguration {
    let text = try NamedFile.text(path)
    do {
      return try ChannelConfiguration(text)
    } catch {
      throw CommandFailure(.configuration, "\(path): \(error.description)")
    }
  }

  /// Reads schema, access file, certificate and the rules of all trees again. All of them take effect, or none when
  /// one is refused; what is refused is said.
  private static func reload(_ server: GraphQLServer, _ arguments: ParsedArguments) async {
    let schemaFile = arguments.operands[0]
    let reason: String
    do {
      let access = try arguments.value("access").map { try accessFile($0) }
      let rules = try arguments.value("rules").map { try NamedFile.text($0) }
      try await server.reload(
        schema: try NamedFile.text(schemaFile), access: access, treeRules: rules,
        treeNamespaces: try namespaces(arguments))
      return Console.announce("Reloaded.", to: STDERR_FILENO)
    } catch let failure as CommandFailure {
      reason = failure.message
    } catch let error as ServerError {
      reason = error.code == .schema || error.code == .data ? "\(schemaFile): \(error.description)" : error.description
    } catch {
      reason = "\(error)"
    }
    Console.announce("Not reloaded, everything stays as it was: \(reason)", to: STDERR_FILENO)
  }

  private static func exitCode(_ code: ServerError.Code) -> ExitCode {
    switch code {
    case .schema, .treeRules: .badData
    case .certificate: .badData
    case .access, .endpoint, .channels: .configuration
    case .data, .write: .io
    case .network, .addressInUse, .notStartable: .unavailable
    }
  }
}
