import MartletServer

/// The figures of `/metrics` by name.
enum Metrics {
  /// The page as it is served.
  static func text(_ server: GraphQLServer, key: String? = nil) async throws -> String {
    let headers = key.map { [("x-api-key", $0)] } ?? []
    return try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: headers).text
  }

  static func read(_ server: GraphQLServer, key: String? = nil) async throws -> [String: Int] {
    let text = try await text(server, key: key)
    var figures: [String: Int] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      if parts.count == 2, let value = Int(parts[1]) { figures[String(parts[0])] = value }
    }
    return figures
  }
}
