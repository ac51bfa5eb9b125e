import Foundation
import Martlet
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

  @Test func `P8: a certificate that the program replaces is shown to new connections, and open ones lose no event`()
    async throws
  {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.access = .keys(try Self.access("one"))
    configuration.log = .silent
    configuration.certificate = ServerConfiguration.Certificate(
      certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
    let server = try GraphQLServer(configuration)
    try server.start()
    let url = try #require(URL(string: "wss://localhost:\(server.port)/graphql"))
    // A connection that drops would end what runs on it.
    func client(pinning key: String? = nil) throws -> GraphQLClient {
      var configuration = ConnectionConfiguration()
      configuration.authorityFile = certificates.authorityFile
      configuration.reconnect = .never
      configuration.pinnedPublicKeys = key.map { [$0] } ?? []
      configuration.credentials = { _ in
        Credentials(headers: [(name: "x-api-key", value: "one")], payload: ["x-api-key": "one"])
      }
      return try GraphQLClient(url: url, configuration: configuration)
    }
    let first = try certificates.serverKeyDigest()
    let reader = try client(pinning: first)
    let notes = reader.subscribe("subscription { onCreateNote { text } }")
    try await notes.ready()
    var events = notes.makeAsyncIterator()
    for round in 0..<4 {
      let old = try certificates.serverKeyDigest()
      try certificates.issue(serial: 10 + round)
      // Keys, schema and certificate together, and the certificate with keys alone.
      if round % 2 == 0 {
        try server.reload(access: try Self.access("one"))
      } else {
        try await server.reload(schema: configuration.schema, access: nil)
      }
      let writer = try client(pinning: try certificates.serverKeyDigest())
      try await writer.mutate("mutation { createNote(input: { text: \"\(round)\" }) { id } }")
      await #expect(throws: GraphQLClientError.self) { try await client(pinning: old).query("{ __typename }") }
      let event = try await events.next()
      #expect(event?.gap == nil && event?.data?["onCreateNote"]?["text"]?.string == "\(round)")
      writer.shutDown()
    }
    reader.shutDown()
    await server.stop()
  }
}
