import MartletServer

/// A server whose callers have keys, and which has the console for those who hold one.
enum ShowConsole {
  /// - Parameter access: The text of an access file, as `martlet access key create` writes it.
  static func configuration(schema: String, access: String) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .keys(try AccessFile(access))
    // Callers may ask for the schema: with that the console is served. In the access file,
    // "introspection": false takes it from a single key.
    configuration.allowsIntrospection = true
    configuration.port = 8_080
    return configuration
  }

  static func run(schema: String, access: String) async throws {
    let server = try GraphQLServer(configuration(schema: schema, access: access))
    print("The console: http://127.0.0.1:8080/console")
    try await server.run()
  }
}
