import MartletServer

/// The guides' settings of a server.
enum ServeSnippets {
  static func limit(_ configuration: inout ServerConfiguration) {
    configuration.limits.http.bodyBytes = 4 * 1_048_576
  }
}
