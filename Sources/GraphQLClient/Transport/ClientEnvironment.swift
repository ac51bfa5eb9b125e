package import MartletRuntime

/// Where a client lives: its loop, its ways to the network, its chance. The default is the process's own; tests and
/// simulations bring another (`ScriptedServer.environment`).
public struct ClientEnvironment: Sendable {
  package var loop: any Loop
  /// Opens WebSockets; nil in programs without them.
  package var sockets: (any MessageSocketConnector)?
  package var http: (any HTTPExchanging)?
  /// Carries queries and mutations.
  package var requests: RequestNetwork
  package var spawner: any Spawner
  /// Draws jitter and the names of writers.
  package var chance: Chance
  /// Decompresses a raw DEFLATE stream to at most so many bytes; nil for a malformed or longer one. Nil in programs
  /// that link no zlib: they ask for no compressed responses.
  package var inflate: (@Sendable (_ bytes: [UInt8], _ limit: Int) -> [UInt8]?)?
  /// Milliseconds since 1970, for signatures; a time that stands still where there are none.
  package var calendar: @Sendable () -> Int64 = { 0 }

  /// What opens the connections of requests, where they have connections of their own.
  package var connections: (any ByteConnector)? {
    if case .connections(let bytes) = requests { bytes } else { nil }
  }

  /// - Throws: `invalidRequest` in a program without WebSockets.
  func webSockets() throws(GraphQLClientError) -> any MessageSocketConnector {
    if let sockets { return sockets }
    throw GraphQLClientError(.invalidRequest, "this program has no WebSockets: import Martlet for them")
  }

  package init(
    loop: any Loop, sockets: (any MessageSocketConnector)?, http: (any HTTPExchanging)?, requests: RequestNetwork,
    spawner: any Spawner, seed: UInt64
  ) {
    self.init(
      loop: loop, sockets: sockets, http: http, requests: requests, spawner: spawner, chance: Chance(seed: seed))
  }

  package init(
    loop: any Loop, sockets: (any MessageSocketConnector)?, http: (any HTTPExchanging)?, requests: RequestNetwork,
    spawner: any Spawner, chance: Chance
  ) {
    self.loop = loop
    self.sockets = sockets
    self.http = http
    self.requests = requests
    self.spawner = spawner
    self.chance = chance
  }
}
