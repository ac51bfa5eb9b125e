package import MartletGraphQLClient
package import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// Opens the connection's WebSockets over any byte connector: sockets in production, an imaginary wire in simulations.
package struct WebSockets: MessageSocketConnector {
  private let bytes: any ByteConnector
  private let chance: Chance

  /// - Parameter chance: draws keys and masks, for each socket others.
  package init(_ bytes: any ByteConnector, chance: Chance) {
    self.bytes = bytes
    self.chance = chance
  }

  package func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    var wire = WebSocketConnector.Request(endpoint: request.endpoint.address, target: request.endpoint.target)
    wire.subprotocols = request.subprotocols
    wire.openTime = request.openTimeout
    wire.limits.messageBytes = request.messageBytes
    // The protocol's own pings ask for life; two askers would only double the traffic.
    wire.limits.pingInterval = nil
    do throws(GraphQLClientError) {
      try wire.headers.append(checking: request.headers)
    } catch {
      let timer = loop.schedule(at: loop.now) { completion(.failure(MessageSocketFailure(error.message))) }
      return ConnectAttempt { timer.cancel() }
    }
    if request.compresses { wire.deflate = .client }
    // A pool of its own: a client has one socket at a time, whose streams end with it.
    let connector = WebSocketConnector(bytes, pool: ZlibPool(), random: chance.fork())
    return connector.open(wire, on: loop, handler: Handler(handler)) { result in
      switch result {
      case .success(let opened): completion(.success((Socket(opened.channel), opened.subprotocol)))
      case .failure(.refused(let error)):
        completion(.failure(MessageSocketFailure("\(error)", status: error.answered, retryAfter: error.retryAfter)))
      case .failure(let failure): completion(.failure(MessageSocketFailure("\(failure)")))
      }
    }
  }

  private final class Handler: WebSocketHandler {
    private let told: any MessageSocketHandler
    init(_ told: any MessageSocketHandler) { self.told = told }
    func received(text: [UInt8]) { told.received(text: text) }
    func received(binary: [UInt8]) { told.receivedBinary() }
    func closed(_ closure: WebSocketClosure) { told.closed(code: closure.code, reason: closure.reason) }
  }

  private final class Socket: MessageSocket {
    private let channel: WebSocketChannel
    init(_ channel: WebSocketChannel) { self.channel = channel }
    func send(text: [UInt8]) { channel.send(text: text) }
    func close(_ code: WebSocketCloseCode, reason: String) { channel.close(code, reason: reason) }
    func abort() { channel.abort() }
    var isReading: Bool {
      get { channel.channel.isReading }
      set { channel.channel.isReading = newValue }
    }
  }
}
