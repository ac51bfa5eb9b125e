internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletSockets

/// The messages of one client. A large one is read on the concurrent pool; those that have arrived after it wait, and
/// so do those after an operation that was refused because its caller had used what it may use. The socket is not read
/// meanwhile, so that they are those of one read at most.
///
/// Confined to its session's loop.
final class SessionInbox {
  enum Message {
    case text([UInt8])
    /// A binary message, which no dialect knows.
    case binary
  }

  private let link: SessionLink
  private let use: SessionUse
  /// Whether a message is being read away from the loop.
  private var isReading = false
  /// Set while no message is taken.
  private var pause: LoopTimer?
  private var waiting: [Message] = []

  init(_ link: SessionLink, _ use: SessionUse) {
    self.link = link
    self.use = use
  }

  /// Takes a message, after those that arrived before it.
  func receive(_ message: Message) {
    if isReading || pause != nil { return waiting.append(message) }
    switch message {
    case .binary: link.step { $0.receivedBinary(actions: &$1) }
    case .text(let text):
      guard text.count > link.service.node.limits.query.bytesOnLoop else {
        return take(link.machine.reader.read(text), bytes: text.count)
      }
      readAway(text)
    }
  }

  /// The session is over: what waits, and what is being read, is dropped.
  func end() {
    isReading = false
    pause?.cancel()
    pause = nil
    waiting = []
  }

  private func take(_ text: ClientText, bytes: Int) {
    use.messageBytes = bytes
    let now = link.service.loop.now
    link.step { $0.receive(text, at: now, actions: &$1) }
    guard use.isExceeded else { return }
    use.isExceeded = false
    holdBack()
  }

  /// Takes no message for a while, as over HTTP: refusing takes about as long as serving a small operation.
  private func holdBack() {
    let time = link.service.node.limits.callers.refusedPause
    guard time > .zero, let socket = link.socket else { return }
    socket.channel.isReading = false
    pause = link.service.loop.schedule(at: link.service.loop.now + time) { [weak self] in
      guard let self else { return }
      self.pause = nil
      self.takeWaiting()
    }
  }

  private func readAway(_ text: [UInt8]) {
    isReading = true
    link.socket?.channel.isReading = false
    let reader = link.machine.reader
    link.service.away(ifLarge: text.count) {
      reader.read(text)
    } _: { [weak self] read in
      guard let self, isReading else { return }
      isReading = false
      take(read, bytes: text.count)
      if pause == nil { takeWaiting() }
    }
  }

  private func takeWaiting() {
    let waiting = waiting
    self.waiting = []
    for message in waiting { receive(message) }
    if !isReading, pause == nil { link.socket?.channel.isReading = true }
  }
}
