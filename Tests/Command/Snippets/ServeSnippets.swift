import MartletServer

/// The guides' settings of a server.
enum ServeSnippets {
  static func limit(_ configuration: inout ServerConfiguration) {
    configuration.limits.http.bodyBytes = 4 * 1_048_576
  }

  static func addStore(_ configuration: inout ServerConfiguration, archiveSchema: String) throws {
    var archive = try ServerStore("/archive", schema: archiveSchema)
    archive.data = .folder("archive")
    configuration.stores = [archive]
  }
}
