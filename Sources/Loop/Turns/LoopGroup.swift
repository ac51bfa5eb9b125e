/// The loops of one process.
package struct LoopGroup: Sendable {
  package let loops: [EpollLoop]

  /// Starts `count` loops, at least one. The default in a server is one fewer than there are cores: the store's writer
  /// has the other.
  package static func start(
    count: Int, limits: LoopLimits = LoopLimits(), calls: any SocketCalls = KernelCalls()
  ) throws(SocketError) -> LoopGroup {
    var loops: [EpollLoop] = []
    for index in 0..<max(1, count) {
      loops.append(try EpollLoop.start(name: "martlet-loop-\(index)", limits: limits, calls: calls))
    }
    return LoopGroup(loops: loops)
  }

  /// Stops all loops and waits until their threads have ended. Not on a loop.
  package func stop() {
    for loop in loops { loop.stop() }
    for loop in loops { loop.waitUntilStopped() }
  }
}
