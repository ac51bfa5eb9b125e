import Foundation
import MartletServer
import Testing

@Suite struct StoppedServerTests {
  /// The files below `folder` that this process has open.
  private static func openFiles(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { descriptor in
      // A descriptor may be closed between the two calls.
      let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
      return file.flatMap { $0.hasPrefix(folder) ? $0 : nil }
    }
  }

  @Test func `a server that is stopped and released keeps no file of its store open`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stopped-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do {
      var configuration = ServerConfiguration(schema: "type Todo @model { id: ID! title: String }")
      configuration.data = .folder(folder)
      configuration.access = .development
      configuration.log = .silent
      let server = try GraphQLServer(configuration)
      try server.start()
      let made = try await HTTPRequest.graphql(
        #"mutation { createTodo(input: {title: "a"}) { id } }"#, port: server.port)
      #expect(made.json["errors"] == nil)
      #expect(try !Self.openFiles(in: folder).isEmpty)
      await server.stop()
    }
    #expect(try Self.openFiles(in: folder) == [])
  }
}
