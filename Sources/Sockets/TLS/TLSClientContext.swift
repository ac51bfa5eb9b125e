internal import CMartletOpenSSL
internal import MartletRuntime

/// What a client checks servers against, and the sessions it can resume.
package final class TLSClientContext: Sendable {
  package struct Options: Sendable {
    /// Authorities in a PEM file. Nil: the system's.
    package var authorityFile: String?
    /// The client's own certificate, for servers that ask for one.
    package var certificateFile: String?
    package var keyFile: String?
    /// Turns all checks off. For tests against servers without a certificate worth the name.
    package var unsafeAcceptsAnyCertificate = false
    /// Holds the version at 1.2, for peers that know no better and for tests.
    package var onlyTLS12 = false
    /// Sessions kept for resumption, one per host and port.
    package var sessions = 256

    package init(authorityFile: String? = nil) {
      self.authorityFile = authorityFile
    }
  }

  /// The system's authorities, no certificate of its own. Nil authorities when they cannot be read: every handshake
  /// fails then, none is let through.
  package static let system: TLSClientContext = {
    if let context = try? TLSClientContext(Options()) { return context }
    preconditionFailure("OpenSSL cannot make a client context")
  }()

  let context: TLSContext
  let options: Options
  private let kept = Lock<[String: TLSSession]>([:])

  /// - Throws: when a file cannot be read.
  package init(_ options: Options) throws(TLSError) {
    self.options = options
    context = try TLSContext(server: false)
    let pointer = unsafe context.pointer
    if let file = options.authorityFile {
      guard unsafe SSL_CTX_load_verify_locations(pointer, file, nil) == 1 else {
        throw TLSError("authority file \(file): \(TLSError.queued())")
      }
    } else {
      _ = unsafe SSL_CTX_set_default_verify_paths(pointer)
    }
    if let certificate = options.certificateFile {
      try context.useCertificate(chainFile: certificate, keyFile: options.keyFile ?? certificate)
    }
    if options.onlyTLS12 { _ = unsafe martlet_tls_set_maximum_version_1_2(pointer) }
    unsafe SSL_CTX_set_verify(pointer, options.unsafeAcceptsAnyCertificate ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
    _ = unsafe SSL_CTX_set_alpn_protos(pointer, ALPN.offer, UInt32(ALPN.offer.count))
    unsafe SSL_CTX_sess_set_new_cb(pointer, TLSEngine.keepSession)
  }

  /// Takes the session kept for a peer. Tickets of TLS 1.3 are for one use.
  func takeSession(for peer: String) -> TLSSession? {
    kept.withLock { $0.removeValue(forKey: peer) }
  }

  func keep(_ session: TLSSession, for peer: String) {
    kept.withLock { kept in
      if kept[peer] == nil, kept.count >= options.sessions, let some = kept.keys.first { kept[some] = nil }
      kept[peer] = session
    }
  }
}

/// A session a server let the client resume.
///
/// `@unchecked Sendable` holds because a session is not changed after it was handed out, and OpenSSL counts inside.
@safe final class TLSSession: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes over one reference.
  init(owning pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe SSL_SESSION_free(pointer)
  }
}
