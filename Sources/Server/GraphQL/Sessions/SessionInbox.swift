internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletSockets

/// The messages of one client. A large one is read on the concurrent pool; its socket brings no other meanwhile, and
/// none for a while after an operation that was refused because its caller had used what it may use.
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
  private var pause: ReadingPause?

  init(_ link: SessionLink, _ use: SessionUse) {
    self.link = link
    self.use = use
  }

  /// Takes a message.
  func receive(_ message: Message) {
    switch message {
    case .binary: link.step { $0.receivedBinary(actions: &$1) }
    case .text(let text):
      guard text.count > link.service.node.limits.query.bytesOnLoop else {
        return take(link.machine.reader.read(text), bytes: text.count)
      }
      readAway(text)
    }
  }

  /// The session is over: what is being read is dropped.
  func end() {
    isReading = false
    pause?.cancel()
    pause = nil
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
    socket.isReading = false
    socket.slow(to: link.service.node.limits.callers.messagesPerTurn)
    pause = link.service.transport.pauses.wait(time) { [weak self] in
      self?.pause = nil
      self?.link.socket?.isReading = true
    }
  }

  private func readAway(_ text: [UInt8]) {
    isReading = true
    link.socket?.isReading = false
    let reader = link.machine.reader
    link.service.away(ifLarge: text.count) {
      reader.read(text)
    } _: { [weak self] read in
      guard let self, isReading else { return }
      isReading = false
      take(read, bytes: text.count)
      if pause == nil { link.socket?.isReading = true }
    }
  }
}
