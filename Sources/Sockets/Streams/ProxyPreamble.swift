internal import MartletLoop
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// The first bytes of a connection that a proxy carries: reads whose it is, then gives the connection to what serves
/// it.
///
/// Confined to its loop; the channel holds it until then.
final class ProxyPreamble: ByteChannelHandler {
  private let channel: SocketChannel
  private let begin: () -> Void
  private var reader: ProxyHeaderReader
  private var deadline: LoopTimer?

  private init(_ channel: SocketChannel, _ largest: Int, _ begin: @escaping () -> Void) {
    self.channel = channel
    reader = ProxyHeaderReader(largest: largest)
    self.begin = begin
  }

  /// Waits for the header. `begin` is called with the channel at the client's address; a connection without a header,
  /// or with a malformed one, is dropped.
  static func await(on channel: SocketChannel, _ limits: ListenerLimits, _ begin: @escaping () -> Void) {
    let preamble = ProxyPreamble(channel, limits.proxyHeaderBytes, begin)
    guard channel.start(handler: preamble) else { return }
    preamble.deadline = channel.eventLoop.schedule(at: channel.eventLoop.now + limits.handshakeTime) {
      [weak preamble] in
      preamble?.channel.abort()
    }
  }

  func received(_ bytes: borrowing RawSpan) {
    // The memory is valid during the call.
    let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    do throws(ProxyHeaderReader.Failure) {
      guard case .done(let header, let rest) = try reader.receive(piece) else { return }
      deadline?.cancel()
      // The proxy's own connections, and those of clients without an address, stay with the proxy's.
      if case .client(let address, let port) = header {
        guard let client = SocketAddress(address.description, port: Int(port)), channel.comes(from: client) else {
          return channel.abort()
        }
      }
      begin()
      channel.deliver(rest)
    } catch {
      channel.abort()
    }
  }

  func drained() {}

  func closed(_ reason: ChannelCloseReason) { deadline?.cancel() }
}
