internal import CMartletOpenSSL
internal import MartletRuntime

/// What a listener serves TLS with. `reload` takes new files for later handshakes; open connections live on.
package final class TLSServerContext: Sendable {
  private let certificateFile: String
  private let keyFile: String
  private let current: Lock<TLSContext>

  /// Reads a PEM chain and its PEM key.
  /// - Throws: when a file cannot be read or the two do not belong together.
  package init(certificateFile: String, keyFile: String) throws(TLSError) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    current = Lock(try Self.make(certificateFile, keyFile))
  }

  /// A certificate that was read and is not in use yet.
  package struct Renewal: Sendable {
    fileprivate let context: TLSContext
  }

  /// Reads the files again. On an error the old certificate stays in use.
  package func reload() throws(TLSError) {
    use(try renewal())
  }

  /// Reads the files again, without effect on what is served.
  package func renewal() throws(TLSError) -> Renewal {
    Renewal(context: try Self.make(certificateFile, keyFile))
  }

  /// Serves later handshakes with a certificate. Sessions stay resumable.
  package func use(_ renewal: Renewal) {
    let fresh = renewal.context
    current.withLock { current in
      _ = unsafe martlet_tls_copy_ticket_keys(current.pointer, fresh.pointer)
      current = fresh
    }
  }

  var context: TLSContext { current.withLock { $0 } }

  private static func make(_ certificateFile: String, _ keyFile: String) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: true)
    try context.useCertificate(chainFile: certificateFile, keyFile: keyFile)
    unsafe martlet_tls_prefer_server_ciphers(context.pointer)
    // Resumption is by stateless tickets: nothing is kept per client. One ticket is what one reconnect uses.
    unsafe SSL_CTX_set_num_tickets(context.pointer, 1)
    let name = Array("martlet".utf8)
    _ = unsafe SSL_CTX_set_session_id_context(context.pointer, name, UInt32(name.count))
    unsafe SSL_CTX_set_alpn_select_cb(context.pointer, selectProtocol, nil)
    return context
  }

  /// HTTP/1.1 is what is spoken here. A client that offers protocols but not this one is refused (RFC 7301
  /// section 3.2); one that offers none is served.
  private static let selectProtocol:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
      UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, chosen, chosenLength, offered, count, _ in
      let wanted = ALPN.http11
      guard let chosen = unsafe chosen, let chosenLength = unsafe chosenLength, let offered = unsafe offered else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
      }
      var index = 0
      // The list is length-prefixed names; OpenSSL has checked that lengths add up, and so does this loop.
      while index < Int(count) {
        let length = unsafe Int(offered[index])
        guard index + 1 + length <= Int(count) else { break }
        if length == wanted.count, (0..<length).allSatisfy({ unsafe offered[index + 1 + $0] == wanted[$0] }) {
          unsafe chosen.pointee = offered + index + 1
          unsafe chosenLength.pointee = UInt8(length)
          return SSL_TLSEXT_ERR_OK
        }
        index += 1 + length
      }
      return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}

/// Names of application protocols in a TLS handshake.
enum ALPN {
  static let http11 = Array("http/1.1".utf8)
  /// The offer of a client: one length-prefixed name.
  static let offer = [UInt8(http11.count)] + http11
}
