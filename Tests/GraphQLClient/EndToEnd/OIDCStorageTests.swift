import Foundation
import Martlet
import MartletHTTP
import MartletRuntime
import Testing

@testable import MartletGraphQLClient

/// Tokens in storages that fail, that are slow, and that several processes of one user share.
@Suite(.timeLimit(.minutes(1))) struct OIDCStorageTests {
  private struct Failure: Error {}

  /// A storage that fails or waits as a test says.
  private final class Storage: CredentialStorage {
    private struct State {
      var bytes: [UInt8]?
      var failsToWrite = false
      var writes = 0
    }

    private let state = Lock(State())
    /// Waited for before bytes are kept.
    let waits: @Sendable (Storage) async -> Void

    init(waits: @escaping @Sendable (Storage) async -> Void = { _ in }) { self.waits = waits }

    var text: String? { state.withLock { $0.bytes.map { String(decoding: $0, as: UTF8.self) } } }
    var writes: Int { state.withLock { $0.writes } }
    func fails(_ fails: Bool) { state.withLock { $0.failsToWrite = fails } }

    func read(_ name: String) async throws -> [UInt8]? { state.withLock { $0.bytes } }

    func write(_ bytes: [UInt8]?, _ name: String) async throws {
      state.withLock { $0.writes += 1 }
      if bytes != nil { await waits(self) }
      try state.withLock { state in
        guard !state.failsToWrite else { throw Failure() }
        state.bytes = bytes
      }
    }
  }

  private static func shown(
    _ auth: OIDCAuthProvider, _ reason: CredentialReason = .refused(code: 401)
  ) async throws -> String? {
    try await auth.credentials(for: reason).headers.first?.value
  }

  @Test func `another process's renewal is taken from the storage, and its refresh token is not used again`()
    async throws
  {
    try await SignInProvider.with { _, provider, oidc, _ in
      let storage = Storage()
      let first = try OIDCAuthProvider(oidc, storage: storage)
      try await first.signIn { _ in }
      let second = try OIDCAuthProvider(oidc, storage: storage)
      #expect(try await Self.shown(second, .request) == "Bearer a1")
      #expect(try await Self.shown(first) == "Bearer a2")
      #expect(try await Self.shown(second) == "Bearer a2")
      #expect(provider.asked.all.count == 2)
      #expect(try await Self.shown(second) == "Bearer a3")
      #expect(try await Self.shown(first) == "Bearer a3")
      #expect(provider.asked.all.count == 3, "none used a refresh token twice")
    }
  }

  @Test func `a user who signs out while a renewed token is being kept stays signed out in the next run`()
    async throws
  {
    try await SignInProvider.with { _, _, oidc, _ in
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let (ended, end) = AsyncStream.makeStream(of: Void.self)
      let storage = Storage { storage in
        guard storage.writes == 2 else { return }
        begin.finish()
        for await _ in ended {}
      }
      let auth = try OIDCAuthProvider(oidc, storage: storage)
      try await auth.signIn { _ in }
      async let renewed = Self.shown(auth)
      for await _ in begun {}
      async let out: Void = auth.signOut()
      // Where it does not wait for the write it is over by then.
      for _ in 0..<1_000 { await Task.yield() }
      end.finish()
      _ = try? await renewed
      try await out
      #expect(storage.text == nil)
      #expect(try await !auth.isSignedIn)
    }
  }

  @Test func `a storage that does not forget is reported to the program that signs out`() async throws {
    try await SignInProvider.with { _, _, oidc, _ in
      let storage = Storage()
      let auth = try OIDCAuthProvider(oidc, storage: storage)
      try await auth.signIn { _ in }
      storage.fails(true)
      let error = await #expect(throws: OIDCError.self) { try await auth.signOut() }
      #expect(error?.code == .storage)
      #expect(try await !auth.isSignedIn, "this process shows the tokens no longer")
    }
  }

  @Test func `renewed tokens that a storage did not take are used, and kept when it takes them again`() async throws {
    try await SignInProvider.with { _, _, oidc, _ in
      let storage = Storage()
      let clock = Lock<Int64>(1_000)
      var environment = try ClientEnvironment.http(nil, ConnectionConfiguration())
      environment.calendar = { clock.withLock { $0 } }
      let auth = OIDCAuthProvider(oidc, storage: storage, environment: environment)
      try await auth.signIn { _ in }
      storage.fails(true)
      #expect(try await Self.shown(auth) == "Bearer a2")
      #expect(storage.text?.contains("a1") == true)
      storage.fails(false)
      let writes = storage.writes
      #expect(try await Self.shown(auth, .request) == "Bearer a2")
      #expect(storage.writes == writes, "a storage that fails is not asked for each request")
      clock.withLock { $0 += 10_000 }
      #expect(try await Self.shown(auth, .request) == "Bearer a2")
      #expect(storage.text?.contains("a2") == true && storage.writes == writes + 1)
    }
  }

  @Test func `a user who gives up waits no longer for another device`() async throws {
    try await SignInProvider.with(interval: 300) { _, _, oidc, _ in
      let auth = try OIDCAuthProvider(oidc, storage: MemoryCredentialStorage())
      let (shown, show) = AsyncStream.makeStream(of: Void.self)
      let signingIn = Task { try await auth.signIn { _ in show.finish() } }
      for await _ in shown {}
      signingIn.cancel()
      await #expect(throws: CancellationError.self) { try await signingIn.value }
    }
  }

  @Test func `long names that end alike are two files`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let storage = FileCredentialStorage(folder: folder)
    let end = String(repeating: "client", count: 40)
    for name in ["a", "b", ""] { try await storage.write(Array(name.utf8), "https://\(name).example \(end)") }
    for name in ["a", "b", ""] {
      #expect(try await storage.read("https://\(name).example \(end)") == Array(name.utf8))
    }
  }
}
