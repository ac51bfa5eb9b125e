package import MartletRuntime

/// Where a client lives: its loop, its ways to the network, its chance. The default is the process's own; tests and
/// simulations bring another (`ScriptedServer.environment`).
public struct ClientEnvironment: Sendable {
  package var loop: any Loop
  package var sockets: any MessageSocketConnector
  package var http: (any HTTPExchanging)?
  package var spawner: any Spawner
  /// Draws jitter, the only chance the client needs above its sockets.
  package var seed: UInt64

  package init(
    loop: any Loop, sockets: any MessageSocketConnector, http: (any HTTPExchanging)?, spawner: any Spawner, seed: UInt64
  ) {
    self.loop = loop
    self.sockets = sockets
    self.http = http
    self.spawner = spawner
    self.seed = seed
  }
}
