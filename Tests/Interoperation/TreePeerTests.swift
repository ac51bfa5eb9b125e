import Foundation
import MartletServer
import MartletTestSupport
import Testing

/// `firebase-admin`, unmodified, against the tree's REST endpoints and event stream.
@Suite struct TreePeerTests {
  private static var isInstalled: Bool {
    let libraries = Programs.root.appendingPathComponent(".build/interoperation/venv/lib")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: libraries.path)) ?? []
    return Peers.areInstalled
      && names.contains { name in
        let package = libraries.appendingPathComponent("\(name)/site-packages/firebase_admin").path
        return FileManager.default.fileExists(atPath: package)
      }
  }

  @Test(.enabled(if: isInstalled, Comment(rawValue: Peers.missing)), .timeLimit(.minutes(2)))
  func `firebase-admin reads, writes, queries, transacts and listens`() async throws {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
    configuration.access = .development
    configuration.log = .silent
    configuration.treeRules = #"{"rules": {"open": {".read": true, ".write": true}}}"#
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      let report = try await Peers.run("tree_client.py", ["\(server.port)"])
      #expect(report["steps"]?.array?.count == 23)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }
}
