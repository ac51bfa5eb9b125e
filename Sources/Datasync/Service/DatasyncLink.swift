internal import MartletRuntime
internal import MartletWire

/// One attempt at a socket, and the socket that came of it. Reports to its driver until the driver lets it go. Confined
/// to its loop.
final class DatasyncLink: MessageSocketHandler {
  private weak var driver: DatasyncDriver?
  private var attempt: ConnectAttempt?
  private(set) var socket: (any MessageSocket)?

  init(_ driver: DatasyncDriver) {
    self.driver = driver
  }

  func open(_ request: MessageSocketRequest, by sockets: any MessageSocketConnector, on loop: any Loop) {
    attempt = sockets.open(request, on: loop, handler: self) { [weak self] result in
      guard let self else { return }
      attempt = nil
      switch result {
      case .failure(let failure): driver?.failed(failure)
      case .success(let opened):
        socket = opened.socket
        driver?.opened()
      }
    }
  }

  func letGo() {
    driver = nil
    attempt?.cancel()
    attempt = nil
    socket = nil
  }

  func received(text: [UInt8]) { driver?.received(text) }
  func receivedBinary() { driver?.receivedBinary() }
  func closed(code: WebSocketCloseCode, reason: String) { driver?.ended() }
}
