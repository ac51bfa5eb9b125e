import Foundation
import Martlet
import MartletServer
import Testing

/// Client and server of this package in every WebSocket dialect, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct DialectEndToEndTests {
  /// Every dialect, and AppSync's with each way to pass the authorization.
  static let dialects: [(Dialect, AppSyncConfiguration.Passing)] = [
    (.graphqlTransportWS, .subprotocol), (.graphqlWS, .subprotocol), (.appSync, .subprotocol), (.appSync, .query),
    (.appSync, .headers),
  ]

  private static func access() throws -> AccessFile {
    // The SHA-256 of "secret".
    try AccessFile(
      #"{"keys":[{"name":"k","sha256":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}]}"#)
  }

  @Test(arguments: dialects) func `events arrive, a restart is survived, cancelling stops the server's source`(
    dialect: Dialect, passing: AppSyncConfiguration.Passing
  ) async throws {
    let access = try Self.access()
    let old = try RealServer { $0.access = .keys(access) }
    defer { old.remove() }
    let client = try old.client {
      $0.dialect = dialect
      $0.appSync.passing = passing
      $0.credentials = { _ in .bearer("secret") }
    }
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
    // The older protocol does not say when a subscription is live: write until an event arrives.
    let writer = Task {
      while !Task.isCancelled {
        try await client.depart("VIE", 1)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    var events = board.makeAsyncIterator()
    let first = try await events.next()
    #expect(first?.data?["onCreateDeparture"]?["minutes"] == 1)
    let port = old.server.port
    writer.cancel()
    _ = await writer.result
    await old.server.stop()
    let new = try RealServer(folder: old.folder, port: port) { $0.access = .keys(access) }
    let again = Task {
      while !Task.isCancelled {
        _ = try? await client.depart("VIE", 2)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    var hasGap = false
    while let event = try await events.next() {
      if event.gap != nil { hasGap = true }
      if event.data?["onCreateDeparture"]?["minutes"] == 2 { break }
    }
    #expect(hasGap == (dialect != .graphqlTransportWS))
    again.cancel()
    _ = await again.result
    board.cancel()
    await new.server.stop()
  }

  @Test(arguments: dialects) func `a wrong key is unauthorized after one refresh`(
    dialect: Dialect, passing: AppSyncConfiguration.Passing
  ) async throws {
    let access = try Self.access()
    let server = try RealServer { $0.access = .keys(access) }
    defer { server.remove() }
    let client = try server.client {
      $0.dialect = dialect
      $0.appSync.passing = passing
      $0.credentials = { _ in Credentials(payload: ["Authorization": "guess"]) }
    }
    let board = client.subscribe(EndToEndTests.board, variables: ["airport": "VIE"])
    let error = await #expect(throws: GraphQLClientError.self) { for try await _ in board {} }
    #expect(error?.code == .unauthorized)
    await server.server.stop()
  }
}
