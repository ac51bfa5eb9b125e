internal import MartletRuntime
internal import MartletWire

/// The one way to answer a request: whole, or as a head, any number of pieces and an end.
///
/// It may be used until the response has ended; after that, and once the connection is gone, every call does nothing.
/// Confined to its loop.
final class HTTPResponder {
  private enum Phase {
    /// Nothing has been sent. Next: `streaming`, `ended`.
    case waiting
    /// The head has been sent. Next: `ended`.
    case streaming
    /// The response is complete, or its connection is gone.
    case ended
  }

  /// The head of the request that is answered.
  let request: HTTPRequestHead
  private weak var pipeline: HTTPPipeline?
  private var phase = Phase.waiting
  private var drained: (() -> Void)?
  private var closed: (() -> Void)?
  /// Whether a client that half-closes has left. True for streams without an end of their own; an answer that is under
  /// way is still sent to any other client.
  var endsWithPeer = false

  init(_ request: HTTPRequestHead, on pipeline: HTTPPipeline) {
    self.request = request
    self.pipeline = pipeline
  }

  var isOpen: Bool { phase != .ended }
  /// Whether the head has not been sent.
  var isWaiting: Bool { phase == .waiting }
  /// Bytes that the transport has not taken yet.
  var pendingBytes: Int { phase == .ended ? 0 : pipeline?.channel.pendingBytes ?? 0 }

  /// Names what follows the response while it is open.
  ///
  /// - Parameters:
  ///   - drained: called when the client has taken everything that was sent.
  ///   - closed: called once when the connection ends before the response does.
  func follow(drained: (() -> Void)? = nil, closed: @escaping () -> Void) {
    guard isOpen else { return }
    self.drained = drained
    self.closed = closed
  }

  // MARK: Answering

  /// Sends a whole response.
  func send(_ status: Int, _ headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], closing: Bool = false) {
    guard phase == .waiting, let pipeline else { return }
    end()
    pipeline.send(status, headers, body: body, closing: closing)
  }

  /// Sends a whole response, counted and logged as it says.
  func send(_ answer: ImmediateAnswer, closing: Bool = false) {
    guard phase == .waiting, let pipeline else { return }
    end()
    pipeline.send(answer, closing: closing)
  }

  /// Sends the head of a response whose body comes in pieces.
  func start(_ status: Int, _ headers: HTTPHeaders) {
    guard phase == .waiting, let pipeline else { return }
    phase = .streaming
    pipeline.start(status, headers)
  }

  /// Sends a piece of the body, which stands in up to three parts so that a fan-out need not join them.
  ///
  /// - Returns: whether the client keeps up; when it does not, `drained` is called once it has.
  @discardableResult
  func write(prefix: [UInt8] = [], _ payload: [UInt8], suffix: [UInt8] = []) -> Bool {
    guard phase == .streaming, let pipeline else { return true }
    return pipeline.write(prefix: prefix, payload, suffix: suffix)
  }

  /// Ends the body.
  func finish() {
    guard phase == .streaming, let pipeline else { return }
    end()
    pipeline.finish()
  }

  private func end() {
    phase = .ended
    drained = nil
    closed = nil
  }

  // MARK: From the connection

  func clientCaughtUp() {
    drained?()
  }

  func connectionClosed() {
    let closed = closed
    end()
    closed?()
  }

  // MARK: Faults

  /// Counts a rule that the client broke, and logs the first of each status of a connection.
  func noteViolation(_ status: Int, _ reason: String) {
    pipeline?.noteViolation(status, reason)
  }

  /// Counts credentials that were not accepted, as above.
  func noteRefusedCredentials(_ status: Int, _ message: StaticString, _ reason: String? = nil) {
    pipeline?.noteRefusedCredentials(status, message, reason)
  }
}
