import MartletServer

/// A server of one model, until SIGTERM or SIGINT.
enum ServeTodos {
  static func configuration(folder: String) -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: "type Todo @model { id: ID! text: String! done: Boolean }")
    configuration.data = .folder(folder)
    configuration.allowsCreating = true
    configuration.access = .development
    configuration.port = 8_090
    return configuration
  }

  static func run(folder: String) async throws {
    try await GraphQLServer(configuration(folder: folder)).run()
  }
}
