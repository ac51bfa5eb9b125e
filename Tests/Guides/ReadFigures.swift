import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The figures of a server at one moment, read from `/metrics`.
struct ReadFigures: Sendable {
  private let lines: [(series: Substring, value: Double)]

  /// Reads Prometheus' text format: a name, its labels in braces, and a value on each line.
  init(_ text: String) {
    lines = text.split(separator: "\n").compactMap { line in
      guard !line.hasPrefix("#"), let space = line.lastIndex(of: " "),
        let value = Double(line[line.index(after: space)...])
      else { return nil }
      return (line[..<space], value)
    }
  }

  /// - Parameters:
  ///   - server: `http://127.0.0.1:8080`, or the address of `adminPort`, which asks for no key.
  ///   - key: An API key; none for a server in development.
  static func read(from server: URL, key: String? = nil) async throws -> ReadFigures {
    var request = URLRequest(url: server.appendingPathComponent("metrics"))
    request.setValue(key, forHTTPHeaderField: "x-api-key")
    let (body, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    return ReadFigures(String(decoding: body, as: UTF8.self))
  }

  /// A figure, over all its labels; zero for one that is not there.
  subscript(name: String) -> Double {
    lines.filter { $0.series == name || $0.series.hasPrefix(name + "{") }.reduce(0) { $0 + $1.value }
  }

  /// The four numbers that a machine's size follows from.
  struct Load: Sendable {
    let connections: Double
    let subscriptions: Double
    let writesPerSecond: Double
    let eventsPerSecond: Double
  }

  /// The load between an earlier reading and this one.
  func load(since earlier: ReadFigures, seconds: Double) -> Load {
    func rate(_ name: String) -> Double { (self[name] - earlier[name]) / seconds }
    return Load(
      connections: self["martlet_connections"], subscriptions: self["martlet_subscriptions"],
      writesPerSecond: rate("martlet_store_group_writes_sum"), eventsPerSecond: rate("martlet_feed_deliveries_total"))
  }
}
