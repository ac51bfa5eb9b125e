import Foundation
import MartletServer
import MartletSockets

/// A public server for one test, stopped when the test's body is over.
enum Served {
  static func with(
    _ schema: String, _ adjust: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    try adjust(&configuration)
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

  /// An access file with one key for each name; the key is the name itself.
  static func access(_ keys: String..., origins: String = "null") throws -> AccessFile {
    let entries = keys.map { key in
      #"{"name":"\#(key)","sha256":"\#(hexadecimal(key))"}"#
    }
    return try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))],"origins":\#(origins)}"#)
  }

  /// The SHA-256 of a key, as access files have it.
  static func hexadecimal(_ key: String) -> String {
    Digest.sha256(Array(key.utf8)).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

/// A folder that goes away with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
