import MartletHTTPWire
import MartletRuntime

/// One attempt at a socket, and the socket that came of it. Reports to its driver until the driver lets it go, so that
/// what an old socket still reports is dropped. Confined to its loop.
final class SocketLink: MessageSocketHandler {
  let opening: SocketOpening
  private weak var driver: SocketDriver?
  private var attempt: ConnectAttempt?
  private(set) var socket: (any MessageSocket)?

  init(_ opening: SocketOpening, _ driver: SocketDriver) {
    self.opening = opening
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
        driver?.opened(subprotocol: opened.subprotocol)
      }
    }
  }

  func letGo() {
    driver = nil
    attempt?.cancel()
    attempt = nil
    socket?.isReading = true
    socket = nil
  }

  func received(text: [UInt8]) { driver?.received(text) }
  func receivedBinary() { driver?.receivedBinary() }
  func closed(code: WebSocketCloseCode, reason: String) { driver?.ended(.closed(code, reason)) }
}
