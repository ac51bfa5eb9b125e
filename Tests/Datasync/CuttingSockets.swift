import MartletGraphQLClient
import MartletRuntime
import MartletVocabulary
import MartletWire

/// Opens real WebSockets and cuts them after a seeded number of messages, so that requests or their answers are lost.
struct CuttingSockets: MessageSocketConnector {
  let real: any MessageSocketConnector
  let random: Lock<SeededRandom>

  init(_ real: any MessageSocketConnector, seed: UInt64) {
    self.real = real
    random = Lock(SeededRandom(seed: seed))
  }

  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    // Most connections end while answers arrive, some while requests are sent.
    let (received, sent) = random.withLock { random in
      (Int(random.next() % 150) + 2, random.next() % 4 == 0 ? Int(random.next() % 200) + 1 : Int.max)
    }
    let wrapper = Cutter(handler, loop, received: received, sent: sent)
    return real.open(request, on: loop, handler: wrapper) { result in
      completion(
        result.map { opened in
          wrapper.socket = opened.socket
          return (socket: wrapper, subprotocol: opened.subprotocol)
        })
    }
  }
}

private final class Cutter: MessageSocket, MessageSocketHandler {
  private let handler: any MessageSocketHandler
  private let loop: any Loop
  var socket: (any MessageSocket)?
  private var received: Int
  private var sent: Int
  private var isCut = false

  init(_ handler: any MessageSocketHandler, _ loop: any Loop, received: Int, sent: Int) {
    (self.handler, self.loop, self.received, self.sent) = (handler, loop, received, sent)
  }

  private func cut() {
    isCut = true
    socket?.abort()
    let bound = LoopBound(self, on: loop)
    loop.execute { bound.value.handler.closed(code: .abnormal, reason: "cut") }
  }

  func send(text: [UInt8]) {
    guard !isCut else { return }
    sent -= 1
    socket?.send(text: text)
    if sent <= 0 { cut() }
  }

  func received(text: [UInt8]) {
    guard !isCut else { return }
    received -= 1
    if received <= 0 { return cut() }
    handler.received(text: text)
  }

  func close(_ code: WebSocketCloseCode, reason: String) { socket?.close(code, reason: reason) }
  func abort() { socket?.abort() }
  var isReading: Bool {
    get { socket?.isReading ?? false }
    set { socket?.isReading = newValue }
  }
  func receivedBinary() { handler.receivedBinary() }
  func closed(code: WebSocketCloseCode, reason: String) { if !isCut { handler.closed(code: code, reason: reason) } }
}
