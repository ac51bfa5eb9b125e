import MartletGraphQLWire
import MartletLoop
import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire
import Synchronization

/// Many sockets with one equal subscription each, which only count what they receive. Confined to the test's loop.
///
/// Once a socket is lost, or the test's time is up, no socket is waited for: the counts are then wrong, and the
/// test fails by them.
final class Audience: @unchecked Sendable {
  private let loop: EpollLoop
  private var listeners: [Listener] = []
  private var ready = 0
  private var events = 0
  private var wantedReady = 0
  private var wantedEvents = 0
  private var waiting: (() -> Void)?
  private var isBroken = false
  private var hasLeft = false
  fileprivate(set) var strays: [String] = []

  init() throws { loop = try TestLoop.shared() }

  /// Opens `count` sockets and waits until every subscription is ready.
  func join(_ count: Int, port: Int, query: String, deflate: Bool = false) async {
    await wait { [self] in
      wantedReady = ready + count
      for _ in 0..<count {
        let listener = Listener(self, query)
        listeners.append(listener)
        listener.open(port, on: loop, deflate: deflate)
      }
      return false
    }
  }

  /// Returns once `count` more events have been received by all together; call it before they are caused.
  func expect(_ count: Int, while cause: @escaping @Sendable () async -> Void) async {
    await withCheckedContinuation { (armed: CheckedContinuation<Void, Never>) in
      loop.execute { [self] in
        wantedEvents = events + count
        armed.resume()
      }
    }
    await cause()
    await wait { [self] in events >= wantedEvents }
  }

  /// Returns when `proceed` is called; at once when what `begin` begins is over already.
  private func wait(_ begin: @escaping @Sendable () -> Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        loop.execute { [self] in
          waiting = { done.resume() }
          if begin() || isBroken { proceed() }
        }
      }
    } onCancel: {
      loop.execute { [self] in lose("the test's time is up") }
    }
  }

  /// Events received by all together.
  var heard: Int {
    get async {
      await withCheckedContinuation { done in loop.execute { done.resume(returning: self.events) } }
    }
  }

  func leave() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.execute { [self] in
        hasLeft = true
        for listener in listeners { listener.channel?.abort() }
        listeners = []
        done.resume()
      }
    }
  }

  private func tellReady() {
    ready += 1
    if ready == wantedReady { proceed() }
  }

  private func tellEvent() {
    events += 1
    if events == wantedEvents { proceed() }
  }

  private func lose(_ what: String) {
    if hasLeft { return }
    strays.append(what)
    isBroken = true
    proceed()
  }

  private func proceed() {
    let next = waiting
    waiting = nil
    next?()
  }

  private final class Listener: WebSocketHandler {
    private weak let audience: Audience?
    private let query: String
    var channel: WebSocketChannel?
    private static let pool = LoopPool()

    init(_ audience: Audience, _ query: String) {
      self.audience = audience
      self.query = query
    }

    func open(_ port: Int, on loop: EpollLoop, deflate: Bool) {
      var request = WebSocketConnector.Request(
        endpoint: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), target: "/graphql")
      request.subprotocols = [GraphQLTransportWS.subprotocol]
      if deflate { request.deflate = WebSocketDeflateSettings() }
      let connector = WebSocketConnector(
        SocketConnector(), pool: Self.pool.pool, random: SeededRandom(seed: 3))
      _ = connector.open(request, on: loop, handler: self) { [self] result in
        switch result {
        case .failure(let failure): audience?.lose("\(failure)")
        case .success(let opened):
          channel = opened.channel
          channel?.send(text: Array(#"{"type":"connection_init","payload":{"martlet":{"cursors":true}}}"#.utf8))
          channel?.send(text: Array(#"{"id":"1","type":"subscribe","payload":{"query":"\#(query)"}}"#.utf8))
        }
      }
    }

    func received(text: [UInt8]) {
      // The type stands in the first bytes: {"id":"1","type":"next" and {"type":"connection_ack".
      let head = String(decoding: text.prefix(30), as: UTF8.self)
      if head.contains("\"next\"") {
        audience?.tellEvent()
      } else if head.contains("\"ready\"") {
        audience?.tellReady()
      } else if !head.contains("\"connection_ack\""), !head.contains("\"ping\"") {
        audience?.strays.append(String(decoding: text, as: UTF8.self))
      }
    }

    func closed(_ closure: WebSocketClosure) { audience?.lose("closed: \(closure)") }
  }

  /// The pool belongs to the test's one loop.
  private final class LoopPool: @unchecked Sendable {
    let pool = ZlibPool()
  }
}
