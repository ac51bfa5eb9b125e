internal import MartletAccess
internal import MartletRuntime
internal import MartletSockets
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// A socket of the tree's protocol: waits until its tree is open, and takes no more messages than its caller may send.
/// Confined to its loop.
final class TreeDoor: SocketEndpoint {
  /// The code of `graphql-transport-ws` for too much of something; the protocol of the tree has none.
  private static let tooMany: WebSocketCloseCode = 4429

  private let find: (@escaping (Result<TreeService, TreeRefusal>) -> Void) -> Void
  private let session: (TreeService) -> TreeSession
  private let use: PeerUse
  /// Messages taken up in one turn after one that had to wait.
  private let slowed: Int
  /// Messages that a client may send before it was greeted.
  private let mostWaiting: Int
  /// Bytes of one message until the session says how many its caller may send.
  private let messageBytes: Int
  private var inner: TreeSession?
  private var socket: WebSocketChannel?
  /// What has arrived and is not taken: before the tree is open, and while the caller has used what it may use.
  private var waiting: [[UInt8]] = []
  /// Until when no message is taken.
  private var pause: ReadingPause?
  /// Counts the connection for its caller.
  private var held: CallerHold?

  init(
    _ use: PeerUse, messageBytes: Int, slowed: Int, waiting: Int,
    find: @escaping (@escaping (Result<TreeService, TreeRefusal>) -> Void) -> Void,
    session: @escaping (TreeService) -> TreeSession
  ) {
    self.use = use
    self.messageBytes = messageBytes
    self.slowed = slowed
    mostWaiting = waiting
    self.find = find
    self.session = session
  }

  func opened(_ socket: WebSocketChannel) {
    self.socket = socket
    socket.bound(messageBytes: messageBytes)
    find { [weak self] result in self?.found(result) }
  }

  private func found(_ result: Result<TreeService, TreeRefusal>) {
    guard let socket else { return }
    switch result {
    case .success(let service):
      let session = session(service)
      guard hold(session.identity) else { return }
      session.callerChanged = { [weak self] in _ = self?.hold($0) }
      inner = session
      session.opened(socket)
      takeWaiting()
    case .failure(let refusal):
      // Clients of this protocol come back after any other end.
      var machine = TreeServerMachine()
      let answer = refusal.answer
      for case .send(let frames) in machine.shutDown("\(answer.status): \(answer.data.string ?? "")") {
        for frame in frames { socket.send(text: Array(frame.utf8)) }
      }
      socket.close(.policyViolation, reason: answer.status)
    }
  }

  // MARK: Messages

  func received(text: [UInt8]) {
    guard inner == nil || pause != nil else { return take(text) }
    guard inner != nil || waiting.count < mostWaiting else {
      socket?.close(.policyViolation, reason: "too many messages before the greeting")
      return
    }
    waiting.append(text)
  }

  /// Hands a message to the session. Where its caller has used what it may use, it waits, and those after it with the
  /// socket: clients of this protocol give up a write that is refused.
  private func take(_ text: [UInt8]) {
    guard let inner else { return }
    do {
      try use.spend(bytes: text.count, by: inner.identity)
    } catch {
      waiting.append(text)
      return wait(error.retryAfter ?? .zero)
    }
    inner.received(text: text)
  }

  private func takeWaiting() {
    let early = waiting
    waiting = []
    for text in early { received(text: text) }
  }

  private func wait(_ time: Duration) {
    socket?.isReading = false
    socket?.slow(to: slowed)
    pause = use.pauses.wait(time) { [weak self] in
      guard let self else { return }
      self.pause = nil
      self.takeWaiting()
      if self.pause == nil { self.socket?.isReading = true }
    }
  }

  /// Counts the connection for a caller; false when it has too many, and the socket is closed.
  private func hold(_ identity: Identity) -> Bool {
    // The last caller's count ends first.
    _ = held.take()
    do {
      held = try use.hold(.connections, by: identity)
      return true
    } catch {
      socket?.close(Self.tooMany, reason: "Too many connections (\(error.limit))")
      return false
    }
  }

  func received(binary: [UInt8]) { socket?.close(.unsupportedData, reason: "messages of this protocol are texts") }

  func drained() { inner?.drained() }

  func closed(_ closure: WebSocketClosure) {
    socket = nil
    pause?.cancel()
    pause = nil
    waiting = []
    held = nil
    inner?.closed(closure)
  }
}
