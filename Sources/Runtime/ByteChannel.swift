/// One connected stream of bytes, with or without TLS: a socket in production, an imaginary wire in a simulation.
///
/// Confined to its loop. Bytes written during a turn leave in one send when the turn ends.
package protocol ByteChannel: AnyObject {
  var loop: any Loop { get }
  /// Printable address of the other end, for logs.
  var peer: String { get }
  /// Whether the peer's address is on the loopback network.
  var peerIsLoopback: Bool { get }
  /// Bytes accepted by `write` that the transport has not taken yet.
  var pendingBytes: Int { get }
  /// How far the peer has read; nil where that is not known.
  var reading: PeerReading? { get }
  /// Gives access to this turn's outgoing bytes. Nothing is allocated once the buffer has its size.
  func write(_ body: (inout OutboundBuffer) -> Void)
  /// Stops and restarts reading, for back-pressure.
  var isReading: Bool { get set }
  /// Sends what is pending, then shuts the stream down.
  func closeAfterFlush()
  /// Drops the stream at once.
  func abort()
}

extension ByteChannel {
  package var reading: PeerReading? { nil }
}

/// How far the peer of a stream has read what was written to it.
package struct PeerReading: Sendable, Equatable {
  /// Bytes that the peer's system has acknowledged since the stream began. A system acknowledges more than its buffers
  /// hold only when its program reads.
  package var acknowledged: Int
  /// Bytes written and not acknowledged, in this process and in the system.
  package var unread: Int

  package init(acknowledged: Int, unread: Int) {
    self.acknowledged = acknowledged
    self.unread = unread
  }

  /// Whether the peer has bytes to read and has read some since `earlier`: a sign that it lives.
  package func isMoving(since earlier: PeerReading?) -> Bool {
    guard let earlier else { return false }
    return unread > 0 && acknowledged > earlier.acknowledged
  }

  /// Whether the peer has bytes to read and has read none since `earlier`.
  package func isStalled(since earlier: PeerReading?) -> Bool {
    guard let earlier else { return false }
    return unread > 0 && earlier.unread > 0 && acknowledged == earlier.acknowledged
  }
}

/// The events of a channel for its owner, always on the loop.
package protocol ByteChannelHandler: AnyObject {
  /// Bytes arrived. They are valid during the call only.
  func received(_ bytes: borrowing RawSpan)
  /// `pendingBytes` fell to zero after a turn had left some behind, or while reading is paused: an owner that pauses
  /// reading because much is pending is always called when it may continue, also when one send took everything.
  func drained()
  /// The peer has sent everything and still reads (a half-closed stream). Return true to keep writing; the owner
  /// then ends the stream with `closeAfterFlush`. The default answers false: what is pending is sent, then the stream
  /// ends with `endOfStream`.
  func peerFinished() -> Bool
  /// The stream is over; called exactly once, last. After `abort` it comes at the end of the turn, never inside the
  /// call.
  func closed(_ reason: ChannelCloseReason)
}

extension ByteChannelHandler {
  package func peerFinished() -> Bool { false }
}

/// Why a stream ended.
package enum ChannelCloseReason: Sendable, Equatable {
  /// The peer sent everything and closed.
  case endOfStream
  /// This side closed or aborted.
  case local
  /// The transport failed: the system's or TLS's text.
  case failure(String)
}

/// The outgoing bytes of a channel: a reusable array with a read position.
package struct OutboundBuffer {
  /// Writable so that the frame writers, which append to plain arrays, need no array in between. Only append.
  package var bytes: [UInt8] = []
  /// How many of `bytes` have been sent.
  package private(set) var sent = 0

  package init() {}

  package var count: Int { bytes.count - sent }
  package var isEmpty: Bool { count == 0 }

  @inlinable
  package mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  @inlinable
  package mutating func append(_ more: [UInt8]) {
    bytes.append(contentsOf: more)
  }

  @inlinable
  package mutating func append(_ more: ArraySlice<UInt8>) {
    bytes.append(contentsOf: more)
  }

  /// Appends memory owned by somebody else; it is copied.
  @inlinable
  package mutating func append(_ more: UnsafeRawBufferPointer) {
    unsafe bytes.append(contentsOf: more)
  }

  /// Makes room for `count` bytes in all.
  package mutating func reserve(_ count: Int) {
    bytes.reserveCapacity(count)
  }

  /// The bytes not yet sent; valid during the call only.
  @inlinable @inline(__always)
  package func withUnsentBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // The slice lies inside the array: `sent` never exceeds its count.
    unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
  }

  /// Appends text as UTF-8.
  package mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// The transport took `count` bytes. A buffer that grew past `keeping` gives its memory back when it empties.
  package mutating func consumed(_ count: Int, keeping: Int = 16_384) {
    precondition(count >= 0 && count <= self.count, "a transport cannot take more than there was")
    sent += count
    guard sent == bytes.count else {
      // A reader that never quite catches up must not make the sent prefix grow for ever. Moving at most as many
      // bytes as were sent since the last move keeps the cost linear.
      if sent >= 65_536, sent >= bytes.count / 2 {
        bytes.removeFirst(sent)
        sent = 0
      }
      return
    }
    sent = 0
    if bytes.capacity > keeping {
      bytes = []
    } else {
      bytes.removeAll(keepingCapacity: true)
    }
  }
}

/// Where a client wants to connect.
package struct ConnectionTarget: Sendable, Hashable {
  package var host: String
  package var port: Int
  package var isSecure: Bool

  package init(host: String, port: Int, isSecure: Bool) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }
}

/// Opens outgoing streams. The simulation's connector is an imaginary wire to a server in the same process.
package protocol ByteConnector: Sendable {
  /// Connects to `endpoint`; `completion` runs on `loop` exactly once. The handler is not called before success.
  /// Cancelling the answered timer-like token before completion abandons the attempt.
  func connect(
    to endpoint: ConnectionTarget, on loop: any Loop, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) -> ConnectAttempt
}

/// An outgoing connection attempt that can be abandoned; its completion then never runs. Confined to its loop.
package final class ConnectAttempt {
  private var abandoning: (() -> Void)?
  package init(abandoning: @escaping () -> Void) {
    self.abandoning = abandoning
  }

  package func cancel() {
    abandoning?()
    abandoning = nil
  }
}

/// Why no connection came about.
package struct ConnectError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable { case resolution, refused, unreachable, timeout, tls, other }
  package var code: Code
  package var message: String
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
  package var description: String { message }
}

/// Takes an incoming stream on its loop and returns its handler; nil refuses it.
package typealias ChannelAcceptor = @Sendable (any ByteChannel) -> (any ByteChannelHandler)?

/// Accepts incoming streams and deals them out to loops.
package protocol ByteListener: AnyObject, Sendable {
  /// The port that was bound.
  var port: Int { get }
  /// Stops accepting; open streams live on.
  func stop()
}
