import Foundation
import MartletJSON
import MartletServer
import Testing

/// A folder that goes away with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A server with one webhook, `hook`.
enum Served {
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  static let schema = "type Todo @model { id: ID! text: String! }"

  static func configuration(
    _ receiver: Receiver, _ folder: TemporaryFolder? = nil,
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }
  ) rethrows -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.treeRules = #"{"rules": {".read": true, ".write": true}}"#
    if let folder { configuration.data = .folder(folder.path) }
    var channels = ChannelConfiguration()
    channels.webhooks = [Webhook("hook", url: receiver.url, secret: secret)]
    channels.allowedAddresses = ["127.0.0.0/8"]
    configuration.channels = channels
    configuration.limits.channels.firstPause = .milliseconds(2)
    configuration.limits.channels.longestPause = .milliseconds(20)
    configuration.limits.channels.recordInterval = .milliseconds(5)
    configuration.limits.http.shutdownLinger = .zero
    try adjust(&configuration)
    return configuration
  }

  static func with(_ configuration: ServerConfiguration, _ body: (GraphQLServer) async throws -> Void) async throws {
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// Makes a subscription; waits for a server that has just started.
  @discardableResult
  static func subscribe(_ text: String, _ server: GraphQLServer, key: String? = nil) async throws -> JSONValue {
    let answer = await Call.send("POST", "/channels", text, port: server.port, key: key)
    try #require(answer.status == 201, "\(answer)")
    return answer.json
  }

  static func put(_ path: String, _ json: String, _ server: GraphQLServer) async {
    let answer = await Call.send("PUT", path, json, port: server.port)
    #expect(answer.status == 200, "\(answer)")
  }

  /// The state of a subscription, once `holds` is true of it.
  static func status(
    _ id: String, _ server: GraphQLServer, until holds: (JSONValue) -> Bool = { _ in true }
  ) async -> JSONValue {
    while true {
      let status = await Call.send("GET", "/channels/\(id)", port: server.port).json
      if holds(status) { return status }
      await Task.yield()
    }
  }
}
