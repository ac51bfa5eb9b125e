import Foundation
import Martlet
import MartletServer
import MartletTestSupport
import Testing

/// Clients that show a certificate to a server that asks for one.
@Suite(.timeLimit(.minutes(1))) struct ClientCertificateTests {
  /// A server whose TLS accepts only clients with a certificate of its authority.
  private func withServer(_ body: (_ front: TLSFront, _ certificates: TestCertificates) async throws -> Void)
    async throws
  {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try certificates.issueClient("tablet")
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.data = .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    let server = try GraphQLServer(configuration)
    try server.start()
    let front = try TLSFront(to: server.port, certificates)
    try await body(front, certificates)
    front.stop()
    await server.stop()
  }

  private func client(
    _ front: TLSFront, _ certificates: TestCertificates, _ configure: (inout ConnectionConfiguration) -> Void
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.authorityFile = certificates.authorityFile
    configuration.reconnect = .never
    configure(&configuration)
    let url = try #require(URL(string: "wss://localhost:\(front.port)/graphql"))
    return try GraphQLClient(url: url, configuration: configuration)
  }

  @Test(arguments: [false, true])
  func `requests and WebSockets show the client's certificate, also through a proxy`(throughProxy: Bool) async throws {
    try await withServer { front, certificates in
      let proxy = try ConnectProxy()
      defer { proxy.stop() }
      let client = try client(front, certificates) {
        $0.certificateFile = certificates.clientCertificateFile
        $0.keyFile = certificates.clientKeyFile
        if throughProxy { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
      }
      let notes = client.subscribe("subscription { onCreateNote { text } }")
      try await notes.ready()
      try await client.mutate(#"mutation { createNote(input: {text: "hello"}) { id } }"#)
      for try await event in notes {
        #expect(event.data?["onCreateNote"]?["text"] == "hello")
        break
      }
      #expect(front.clients == ["/CN=tablet", "/CN=tablet"])
      #expect(proxy.requests.count == (throughProxy ? 2 : 0))
      client.shutDown()
    }
  }

  @Test func `without a certificate, requests and WebSockets are refused with a typed error`() async throws {
    try await withServer { front, certificates in
      let client = try client(front, certificates) { _ in }
      await #expect(throws: GraphQLClientError.self) { try await client.query("{ __typename }") }
      let notes = client.subscribe("subscription { onCreateNote { text } }")
      await #expect(throws: GraphQLClientError.self) { try await notes.ready() }
      #expect(front.clients.isEmpty)
      client.shutDown()
    }
  }

  @Test func `a key that does not belong to the certificate is refused`() async throws {
    try await withServer { front, certificates in
      let url = try #require(URL(string: "wss://localhost:\(front.port)/graphql"))
      var configuration = ConnectionConfiguration()
      configuration.authorityFile = certificates.authorityFile
      configuration.certificateFile = certificates.clientCertificateFile
      configuration.keyFile = certificates.keyFile
      configuration.reconnect = .never
      let error = #expect(throws: GraphQLClientError.self) {
        try GraphQLClient(url: url, configuration: configuration)
      }
      #expect(error?.code == .invalidRequest)
      #expect(front.clients.isEmpty)
    }
  }
}
