import Foundation
import Martlet
import MartletServer
import MartletTestSupport
import Testing

/// The GraphQL client over TLS: HTTP and the WebSocket trust an authority of one's own, and no other.
@Suite(.timeLimit(.minutes(1))) struct ClientOverTLSTests {
  private func withServer(
    _ body: (_ url: URL, _ certificates: TestCertificates, _ server: GraphQLServer) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.data = .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    configuration.certificate = ServerConfiguration.Certificate(
      certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
    let server = try GraphQLServer(configuration)
    try server.start()
    try await body(try #require(URL(string: "wss://localhost:\(server.port)/graphql")), certificates, server)
    await server.stop()
  }

  @Test func `a client that trusts the server's authority queries, writes and subscribes`() async throws {
    try await withServer { url, certificates, _ in
      var configuration = ConnectionConfiguration()
      configuration.authorityFile = certificates.authorityFile
      let client = try GraphQLClient(url: url, configuration: configuration)
      let notes = client.subscribe("subscription { onCreateNote { text } }")
      try await notes.ready()
      try await client.mutate(#"mutation { createNote(input: {text: "hello"}) { id } }"#)
      for try await event in notes {
        #expect(event.data?["onCreateNote"]?["text"] == "hello")
        break
      }
      let all = try await client.query("{ listNotes { items { text } } }")
      #expect(all.data?["listNotes"]?["items"] == [["text": "hello"]])
      client.shutDown()
    }
  }

  @Test func `a client that does not trust it gets a typed error on either way`() async throws {
    try await withServer { url, _, _ in
      var configuration = ConnectionConfiguration()
      configuration.reconnect = .never
      let client = try GraphQLClient(url: url, configuration: configuration)
      let failure = await #expect(throws: GraphQLClientError.self) { try await client.query("{ __typename }") }
      #expect(failure?.code == .connectFailed, "\(String(describing: failure))")
      let notes = client.subscribe("subscription { onCreateNote { text } }")
      let ended = await #expect(throws: GraphQLClientError.self) { try await notes.ready() }
      #expect(ended?.code == .connectFailed, "\(String(describing: ended))")
      client.shutDown()
    }
  }

  @Test func `requests and WebSockets go through a proxy`() async throws {
    try await withServer { url, certificates, server in
      let proxy = try ConnectProxy()
      defer { proxy.stop() }
      var configuration = ConnectionConfiguration()
      configuration.authorityFile = certificates.authorityFile
      configuration.proxy = "http://127.0.0.1:\(proxy.port)"
      let client = try GraphQLClient(url: url, configuration: configuration)
      let notes = client.subscribe("subscription { onCreateNote { text } }")
      try await notes.ready()
      try await client.mutate(#"mutation { createNote(input: {text: "hello"}) { id } }"#)
      for try await event in notes {
        #expect(event.data?["onCreateNote"]?["text"] == "hello")
        break
      }
      #expect(proxy.requests == Array(repeating: "CONNECT localhost:\(server.port) HTTP/1.1", count: 2))
      client.shutDown()
    }
  }

  @Test func `a pinned key is the only one that is accepted, by requests and WebSockets alike`() async throws {
    try await withServer { url, certificates, _ in
      for (pin, isGood) in [(try certificates.serverKeyDigest(), true), (Data(count: 32).base64EncodedString(), false)]
      {
        var configuration = ConnectionConfiguration()
        configuration.authorityFile = certificates.authorityFile
        configuration.pinnedPublicKeys = [pin]
        configuration.reconnect = .never
        let client = try GraphQLClient(url: url, configuration: configuration)
        let notes = client.subscribe("subscription { onCreateNote { text } }")
        if isGood {
          try await notes.ready()
          #expect(try await client.query("{ __typename }").errors.isEmpty)
        } else {
          let ended = await #expect(throws: GraphQLClientError.self) { try await notes.ready() }
          #expect(ended?.code == .connectFailed)
          await #expect(throws: GraphQLClientError.self) { try await client.query("{ __typename }") }
        }
        client.shutDown()
      }
    }
  }

  @Test func `files, pins and proxies that cannot be used are refused when the client is made`() throws {
    let url = try #require(URL(string: "wss://localhost/graphql"))
    func refusal(_ configure: (inout ConnectionConfiguration) -> Void) -> GraphQLClientError? {
      var configuration = ConnectionConfiguration()
      configure(&configuration)
      return #expect(throws: GraphQLClientError.self) { try GraphQLClient(url: url, configuration: configuration) }
    }
    #expect(refusal { $0.certificateFile = "/no/such.pem" }?.message.contains("the client's certificate") == true)
    #expect(refusal { $0.pinnedPublicKeys = ["AAAA"] }?.message.contains("pinned key") == true)
    #expect(refusal { $0.proxy = "proxy" }?.message.contains("proxy") == true)
  }
}
