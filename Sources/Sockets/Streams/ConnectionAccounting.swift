internal import MartletLoop
internal import MartletRuntime

/// How many connections a listener has open, in all and per peer. Safe from any thread: channels leave on their loops.
final class ConnectionAccounting: Sendable {
  private struct State {
    var total = 0
    var perHost: [SocketAddress: Int] = [:]
  }

  private let limits: ListenerLimits
  private let state = Lock(State())

  init(limits: ListenerLimits) {
    self.limits = limits
  }

  /// Counts a connection in, or answers false when a limit stands against it.
  func enter(_ peer: SocketAddress) -> Bool {
    state.withLock { state in
      guard state.total < limits.connections else { return false }
      if let most = limits.connectionsPerHost {
        let count = state.perHost[peer.host, default: 0]
        guard count < most else { return false }
        state.perHost[peer.host] = count + 1
      }
      state.total += 1
      return true
    }
  }

  func left(_ peer: SocketAddress) {
    state.withLock { state in
      state.total -= 1
      guard limits.connectionsPerHost != nil, let count = state.perHost[peer.host] else { return }
      state.perHost[peer.host] = count > 1 ? count - 1 : nil
    }
  }

  /// Counts a connection for another address than it was counted for; false, with nothing changed, when a limit stands
  /// against that.
  func moved(from peer: SocketAddress, to client: SocketAddress) -> Bool {
    state.withLock { state in
      guard let most = limits.connectionsPerHost, peer.host != client.host else { return true }
      let count = state.perHost[client.host, default: 0]
      guard count < most else { return false }
      state.perHost[client.host] = count + 1
      if let old = state.perHost[peer.host] { state.perHost[peer.host] = old > 1 ? old - 1 : nil }
      return true
    }
  }

  var total: Int { state.withLock { $0.total } }
}
