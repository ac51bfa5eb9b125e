import MartletServer

/// The figures of `/metrics` by name.
enum Metrics {
  static func read(_ server: GraphQLServer, key: String? = nil) async throws -> [String: Int] {
    let headers = key.map { [("x-api-key", $0)] } ?? []
    let text = try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: headers).text
    var figures: [String: Int] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      if parts.count == 2, let value = Int(parts[1]) { figures[String(parts[0])] = value }
    }
    return figures
  }
}
