internal import MartletRuntime
internal import MartletWire

/// One attempt at a socket, and the socket that came of it. Reports to its connection until the connection lets it go.
/// Confined to its loop.
final class DatasyncLink: MessageSocketHandler {
  private weak var connection: DatasyncConnection?
  private var attempt: ConnectAttempt?
  private(set) var socket: (any MessageSocket)?

  init(_ connection: DatasyncConnection) {
    self.connection = connection
  }

  func open(_ request: MessageSocketRequest, by sockets: any MessageSocketConnector, on loop: any Loop) {
    attempt = sockets.open(request, on: loop, handler: self) { [weak self] result in
      guard let self else { return }
      attempt = nil
      switch result {
      case .failure(let failure): connection?.failed(failure)
      case .success(let opened):
        socket = opened.socket
        connection?.opened()
      }
    }
  }

  func letGo() {
    connection = nil
    attempt?.cancel()
    attempt = nil
    socket = nil
  }

  func received(text: [UInt8]) { connection?.received(text) }
  func receivedBinary() { connection?.receivedBinary() }
  func closed(code: WebSocketCloseCode, reason: String) { connection?.ended() }
}
