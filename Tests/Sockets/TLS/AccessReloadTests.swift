import Foundation
import MartletServer
import MartletSockets
import Testing

/// Replacing access file and certificate of a running server together.
@Suite(.timeLimit(.minutes(1))) struct AccessReloadTests {
  private static func access(_ key: String) throws -> AccessFile {
    let digest = Digest.sha256(Array(key.utf8)).map { String(format: "%02x", $0) }.joined()
    return try AccessFile(#"{"keys":[{"name":"\#(key)","sha256":"\#(digest)"}]}"#)
  }

  @Test func `a certificate that cannot be read leaves the old keys in force`() async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.access = .keys(try Self.access("old"))
    configuration.certificate = ServerConfiguration.Certificate(
      certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
    let server = try GraphQLServer(configuration)
    try server.start()
    func accepts(_ key: String) -> Bool { server.node.access.accepts(apiKey: key) }
    try Data("broken".utf8).write(to: URL(fileURLWithPath: certificates.certificateFile))
    let error = #expect(throws: ServerError.self) { try server.reload(access: try Self.access("new")) }
    #expect(error?.code == .certificate && accepts("old") && !accepts("new"))
    try certificates.issue(serial: 3)
    try server.reload(access: try Self.access("new"))
    #expect(!accepts("old") && accepts("new"))
    await server.stop()
  }
}
