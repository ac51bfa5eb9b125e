/// A client's session as its loop sees it: what is done to all of them, whatever they speak. Confined to the loop.
protocol LoopSession: AnyObject {
  /// Its number among what runs on the loop.
  var serial: Int { get }
  /// Whether it is on a WebSocket; else on a streamed response.
  var isSocket: Bool { get }
  /// Whether a query or mutation is under way, whose answer a shutdown waits for.
  var hasRunningOperations: Bool { get }
  /// The server is being stopped: ends the session so that its client comes back.
  func leave()
  /// Other keys are in force: ends what a withdrawn one admitted, and returns how much that was.
  func recheckAccess() -> Int
  /// Another schema is in force: ends what is not valid under it, and returns how much that was.
  func recheckSchema() -> Int
}
