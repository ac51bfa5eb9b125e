internal import CMartletOpenSSL
internal import MartletLoop
internal import MartletRuntime

/// One TLS connection without its socket: cipher text goes in by `feed` and out to the channel below.
///
/// The transport under OpenSSL is ours, for two reasons: one read of the socket serves header and body of all records
/// in it, and all records of a turn join in the channel's one send. Nothing is buffered here; what a call to `feed`
/// brought and OpenSSL has not taken is handed back by `takeUnread`.
///
/// All unsafe dealings with OpenSSL's connection object are in this file. Confined to its channel's loop.
@safe final class TLSEngine {
  enum Step {
    case done
    /// More cipher text is needed.
    case wantsInput
    case failed(String)
  }

  enum ReadStep {
    case bytes(Int)
    case wantsInput
    /// The peer said it has sent everything.
    case ended
    case failed(String)
  }

  private let ssl: OpaquePointer
  private let context: TLSContext
  private let client: TLSClientContext?
  private let peerName: String
  private unowned let below: SocketChannel
  /// What OpenSSL may read now: memory of the caller of `feed`, valid until `takeUnread`, which that caller calls
  /// before it returns.
  private var unread = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

  /// The server's side.
  convenience init(server context: TLSContext, below: SocketChannel) throws(TLSError) {
    try self.init(context, client: nil, peerName: "", below: below)
    unsafe SSL_set_accept_state(ssl)
  }

  /// The client's side: checks the server's certificate for `host` and resumes a kept session.
  convenience init(
    client: TLSClientContext, host: String, port: Int, below: SocketChannel
  ) throws(TLSError) {
    try self.init(client.context, client: client, peerName: "\(host):\(port)", below: below)
    unsafe SSL_set_connect_state(ssl)
    if SocketAddress(host, port: 0) == nil {
      guard unsafe martlet_tls_set_host_name(ssl, host) == 1, unsafe SSL_set1_host(ssl, host) == 1 else {
        throw TLSError("\(host) is not a host name TLS can check")
      }
    } else if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 {
      throw TLSError("\(host) is not an address TLS can check")
    }
    if let session = client.takeSession(for: peerName) { _ = unsafe SSL_set_session(ssl, session.pointer) }
  }

  private init(_ context: TLSContext, client: TLSClientContext?, peerName: String, below: SocketChannel)
    throws(TLSError)
  {
    guard let ssl = unsafe SSL_new(context.pointer) else { throw TLSError("TLS: \(TLSError.queued())") }
    unsafe self.ssl = ssl
    self.context = context
    self.client = client
    self.peerName = peerName
    self.below = below
    guard let method = unsafe TransportMethod.shared.pointer, let bio = unsafe BIO_new(method) else {
      throw TLSError("TLS: \(TLSError.queued())")
    }
    // Not retained: the engine frees the connection, and the transport with it, in its deinit.
    unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    unsafe BIO_set_init(bio, 1)
    unsafe SSL_set_bio(ssl, bio, bio)
  }

  deinit {
    unsafe SSL_free(ssl)
  }

  // MARK: Steps

  /// Lends cipher text until `takeUnread`.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    unsafe unread = bytes
  }

  /// Ends the loan and answers what was not consumed.
  func takeUnread() -> [UInt8] {
    let rest = unsafe Array(unread)
    unsafe unread = UnsafeRawBufferPointer(start: nil, count: 0)
    return rest
  }

  func handshake() -> Step {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 { return .done }
    return unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ ? .wantsInput : .failed(failure())
  }

  /// Decrypts at most one record.
  func read(into memory: UnsafeMutableRawBufferPointer) -> ReadStep {
    ERR_clear_error()
    let count = unsafe SSL_read(ssl, memory.baseAddress, Int32(clamping: memory.count))
    if count > 0 { return .bytes(Int(count)) }
    switch unsafe SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsInput
    case SSL_ERROR_ZERO_RETURN: return .ended
    default: return .failed(failure())
    }
  }

  /// Encrypts everything into the channel below; nil, or why not.
  func write(_ bytes: UnsafeRawBufferPointer) -> String? {
    ERR_clear_error()
    var written = 0
    // The transport takes everything; more than one round is for sizes beyond what OpenSSL counts in.
    while written < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = unsafe SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
      guard count > 0 else { return failure() }
      written += Int(count)
    }
    return nil
  }

  /// Says that this side has sent everything.
  func sayGoodbye() {
    ERR_clear_error()
    _ = unsafe SSL_shutdown(ssl)
    ERR_clear_error()
  }

  var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

  /// `TLSv1.3` or `TLSv1.2`.
  var version: String { unsafe String(cString: SSL_get_version(ssl)) }

  private func failure() -> String {
    let verification = unsafe SSL_get_verify_result(ssl)
    let queued = TLSError.queued()
    if client?.options.unsafeAcceptsAnyCertificate == false, verification != 0,
      let text = unsafe X509_verify_cert_error_string(verification)
    {
      return "TLS: the server's certificate is not accepted: \(unsafe String(cString: text))"
    }
    return "TLS: \(queued)"
  }

  // MARK: Called by OpenSSL

  private static func engine(of bio: OpaquePointer?) -> TLSEngine? {
    guard let data = unsafe BIO_get_data(bio) else { return nil }
    // Set in `init`, and the transport is gone before the engine is.
    return unsafe Unmanaged<TLSEngine>.fromOpaque(data).takeUnretainedValue()
  }

  fileprivate static let transportRead: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32) -> Int32 =
    { bio, target, capacity in
      guard let engine = unsafe engine(of: bio), let target = unsafe target, capacity > 0 else { return 0 }
      unsafe martlet_bio_clear_retry(bio)
      let count = unsafe min(Int(capacity), engine.unread.count)
      guard count > 0, let source = unsafe engine.unread.baseAddress else {
        unsafe martlet_bio_want_read(bio)
        return -1
      }
      unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: count)
      unsafe engine.unread = UnsafeRawBufferPointer(rebasing: engine.unread[count...])
      return Int32(count)
    }

  fileprivate static let transportWrite: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
    bio, source, count in
    guard let engine = unsafe engine(of: bio), let source = unsafe source, count > 0 else { return 0 }
    unsafe martlet_bio_clear_retry(bio)
    let bytes = unsafe UnsafeRawBufferPointer(start: source, count: Int(count))
    engine.below.write { unsafe $0.append(bytes) }
    return count
  }

  fileprivate static let transportControl:
    @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int = { _, command, _, _ in
      // Flushing is the channel's own affair and always succeeds; nothing else is supported.
      command == BIO_CTRL_FLUSH ? 1 : 0
    }

  /// OpenSSL offers a resumable session; answering 1 takes its reference over.
  static let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
    guard let session = unsafe session, let engine = unsafe engine(of: SSL_get_rbio(ssl)), let client = engine.client
    else { return 0 }
    client.keep(unsafe TLSSession(owning: session), for: engine.peerName)
    return 1
  }
}

/// The table of functions OpenSSL calls for its transport, made once.
///
/// `@unchecked Sendable` holds because it is not changed after `init`.
@safe private final class TransportMethod: @unchecked Sendable {
  static let shared = TransportMethod()
  let pointer: OpaquePointer?

  private init() {
    let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "martlet channel")
    unsafe BIO_meth_set_read(method, TLSEngine.transportRead)
    unsafe BIO_meth_set_write(method, TLSEngine.transportWrite)
    unsafe BIO_meth_set_ctrl(method, TLSEngine.transportControl)
    unsafe pointer = method
  }
}
