import MartletWireProtocols

/// Tells the driver which socket its news is from.
final class SocketHandler: MessageSocketHandler {
  private weak var driver: ConnectionDriver?
  private let generation: Int

  init(_ driver: ConnectionDriver, generation: Int) {
    self.driver = driver
    self.generation = generation
  }

  func received(text: [UInt8]) { driver?.received(text, generation) }
  func receivedBinary() { driver?.receivedBinary(generation) }
  func closed(code: WebSocketCloseCode, reason: String) { driver?.closed(code, reason, generation) }
}
