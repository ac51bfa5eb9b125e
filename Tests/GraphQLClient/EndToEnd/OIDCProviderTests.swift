import Foundation
import Martlet
import MartletHTTP
import MartletServer
import Testing

@testable import MartletGraphQLClient

/// Signing in at a provider and being served with its tokens, by every transport.
@Suite(.timeLimit(.minutes(1))) struct OIDCProviderTests {
  @Test func `a token that the server refuses is renewed once, for requests and sockets alike, and is kept`()
    async throws
  {
    try await SignInProvider.with { server, provider, oidc, shown in
      let storage = MemoryCredentialStorage()
      let auth = try OIDCAuthProvider(oidc, storage: storage)
      await #expect(throws: OIDCError.self) { try await auth.credentials(for: .request) }
      try await auth.signIn { code in #expect(code.userCode == "AB") }
      #expect(try await auth.isSignedIn)
      let client = try server.client { $0.use(auth) }
      try await client.depart("VIE", 1)
      let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
      try await board.ready()
      #expect(shown.all == ["Bearer a1", "Bearer a1", "Bearer a2"])
      #expect(provider.asked.all.count == 2, "one sign-in, one renewal")
      board.cancel()
      // Another run of the program begins with what was kept.
      let next = try OIDCAuthProvider(oidc, storage: storage)
      #expect(try await next.credentials(for: .request).headers.first?.value == "Bearer a2")
      #expect(try await next.credentials(for: .refused(code: 401)).headers.first?.value == "Bearer a3")
      try await next.signOut()
      #expect(try await storage.read("martlet-oidc \(oidc.issuer) board") == nil)
    }
  }

  @Test func `a browser's answer is exchanged with the verifier, and callers that wait together cause one renewal`()
    async throws
  {
    try await SignInProvider.with { _, provider, oidc, _ in
      let auth = try OIDCAuthProvider(oidc, storage: MemoryCredentialStorage())
      let signIn = try await auth.beginSignIn(redirect: "http://127.0.0.1:9/cb")
      let state = try #require(signIn.page.split(separator: "state=").last?.split(separator: "&").first)
      await #expect(throws: OIDCError.self) {
        try await auth.finishSignIn(signIn, callback: "http://127.0.0.1:9/cb?code=c&state=other")
      }
      try await auth.finishSignIn(signIn, callback: "http://127.0.0.1:9/cb?code=c&state=\(state)")
      let form = try #require(provider.asked.all.first)
      #expect(form.contains("code=c&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcb&code_verifier="))
      let values = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<20 {
          group.addTask { try await auth.credentials(for: .refused(code: 401)).headers.first?.value }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      // Those that come after a renewal cause another; refresh tokens are never used twice.
      #expect(values.count == provider.asked.all.count - 1)
      #expect(try await auth.isSignedIn)
    }
  }

  @Test func `a browser on this machine is waited for at a port, whatever else is sent there`() async throws {
    try await SignInProvider.with { _, provider, oidc, _ in
      let auth = try OIDCAuthProvider(oidc, storage: MemoryCredentialStorage())
      let browser = ProviderRequests(try ClientEnvironment.http(nil, ConnectionConfiguration()))
      try await auth.signInWithBrowser { page in
        let port = try #require(page.split(separator: "127.0.0.1%3A").last?.prefix { $0.isNumber })
        let state = try #require(page.split(separator: "state=").last?.split(separator: "&").first)
        // The favicon, and pages that know no state. What follows the query is the request's own.
        for query in ["favicon.ico?", "?code=x&state=other&", "?state=other&error=access_denied&"] {
          _ = try? await browser.addresses(of: "http://127.0.0.1:\(port)/\(query)x=")
        }
        _ = try? await browser.post("http://127.0.0.1:\(port)/?code=x&state=\(state)", [])
        _ = try? await browser.addresses(of: "http://127.0.0.1:\(port)/?code=c&state=\(state)&x=")
      }
      #expect(try await auth.isSignedIn)
      #expect(provider.asked.all.count == 1 && provider.asked.all.first?.contains("code=c&") == true)
    }
  }

  @Test func `a program that gives up waits for no browser`() async throws {
    try await SignInProvider.with { _, _, oidc, _ in
      let auth = try OIDCAuthProvider(oidc, storage: MemoryCredentialStorage())
      let (opened, open) = AsyncStream.makeStream(of: Void.self)
      let signingIn = Task { try await auth.signInWithBrowser { _ in open.yield() } }
      for await _ in opened { break }
      signingIn.cancel()
      await #expect(throws: CancellationError.self) { try await signingIn.value }
    }
  }

  @Test func `tokens in a folder can be read by their owner alone`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage = FileCredentialStorage(folder: folder)
    #expect(try await storage.read("a/../b") == nil)
    try await storage.write([1, 2], "a/../b")
    try await storage.write([3], "a/../b")
    #expect(try await storage.read("a/../b") == [3])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.count == 1)
    for path in [folder.path] + files.map({ folder.path + "/" + $0 }) {
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode.map { $0 & 0o077 } == 0, "\(path)")
    }
    try await storage.write(nil, "a/../b")
    #expect(try await storage.read("a/../b") == nil)
  }
}
