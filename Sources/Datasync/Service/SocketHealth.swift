internal import MartletRuntime
internal import MartletTreeClient
internal import MartletTreeWire

/// Keeps a connection alive and notices a dead one. Confined to its driver's loop.
final class SocketHealth {
  private unowned let driver: DatasyncDriver
  private var keepAliveTimer: LoopTimer?
  private var silenceTimer: LoopTimer?
  private var isPinged = false

  init(_ driver: DatasyncDriver) {
    self.driver = driver
  }

  func stop() {
    keepAliveTimer?.cancel()
    silenceTimer?.cancel()
    isPinged = false
  }

  func armKeepAlive() {
    keepAliveTimer?.cancel()
    guard let deadline = driver.machine.deadline else { return }
    keepAliveTimer = driver.loop.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      driver.perform(driver.machine.passed(now: driver.now))
      armKeepAlive()
    }
  }

  /// Something arrived, or the connection has opened.
  func heard() {
    isPinged = false
    watch()
  }

  /// After a silence the server is asked; after another one the connection counts as dead.
  private func watch() {
    silenceTimer?.cancel()
    let configuration = driver.configuration.connection
    guard let interval = configuration.pingInterval else { return }
    let wait = isPinged ? configuration.pongTimeout : interval
    silenceTimer = driver.loop.schedule(at: driver.now + wait) { [weak self] in
      guard let self, let socket = driver.connection.socket else { return }
      if isPinged || !driver.machine.isConnected {
        socket.abort()
        return driver.connection.ended()
      }
      isPinged = true
      socket.send(text: Array(TreeFraming.ping.utf8))
      watch()
    }
  }
}
