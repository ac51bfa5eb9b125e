import Foundation
import Martlet
import MartletServer
import Testing

/// A server on a free port of this machine, and clients for it. The data folder goes with the fixture.
final class RealServer: Sendable {
  static let schema = """
    type Departure @model { id: ID! airport: String! line: String! minutes: Int! due: AWSDateTime }
    """

  let folder: String
  let server: GraphQLServer
  private let configuration: ServerConfiguration

  /// Starts a server; `folder` and `port` of an earlier one make it its successor.
  init(folder: String? = nil, port: Int = 0, _ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
    self.folder =
      folder ?? FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)").path
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.data = .folder(self.folder)
    configuration.access = .development
    configuration.log = .silent
    configuration.port = port
    configuration.loops = 1
    configure(&configuration)
    self.configuration = configuration
    server = try GraphQLServer(configuration)
    try server.start()
  }

  var url: URL {
    get throws { try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")) }
  }

  /// A client whose pauses are short, so that tests are.
  func client(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.reconnect.longestDelay = .milliseconds(100)
    configure(&configuration)
    return try GraphQLClient(url: url, configuration: configuration)
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

struct Departure: Codable, Sendable, Equatable {
  var id: String
  var minutes: Int
}

extension GraphQLClient {
  /// Writes a departure and answers its id.
  @discardableResult
  func depart(_ airport: String, _ minutes: Int) async throws -> String? {
    let result = try await mutate(
      """
      mutation Add($airport: String!, $minutes: Int!) {
        createDeparture(input: { airport: $airport, line: "RJ", minutes: $minutes }) { id }
      }
      """, variables: ["airport": .string(airport), "minutes": .int(Int64(minutes))])
    return result.data?["createDeparture"]?["id"]?.string
  }
}
