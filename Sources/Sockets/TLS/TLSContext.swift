internal import CMartletOpenSSL

/// One immutable OpenSSL context, counted.
///
/// `@unchecked Sendable` holds because the context is never changed after `init` and OpenSSL counts and locks inside.
@safe final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer

  /// The suites of TLS 1.2: ephemeral keys, so that a stolen key decrypts no recording, and authenticated encryption,
  /// because suites with CBC have had padding attacks again and again. Those of TLS 1.3 are all of this kind.
  private static let suites = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK"

  init(server: Bool) throws(TLSError) {
    let method = unsafe server ? TLS_server_method() : TLS_client_method()
    guard let context = unsafe SSL_CTX_new(method) else { throw TLSError("TLS: \(TLSError.queued())") }
    unsafe pointer = context
    guard unsafe martlet_tls_configure(context) == 1, unsafe SSL_CTX_set_cipher_list(context, Self.suites) == 1 else {
      throw TLSError("TLS: \(TLSError.queued())")
    }
    unsafe martlet_tls_session_cache(context, server ? 0 : 1)
  }

  deinit {
    unsafe SSL_CTX_free(pointer)
  }

  func useCertificate(chainFile: String, keyFile: String) throws(TLSError) {
    guard unsafe SSL_CTX_use_certificate_chain_file(pointer, chainFile) == 1 else {
      throw TLSError("certificate file \(chainFile): \(TLSError.queued())")
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError("key file \(keyFile): \(TLSError.queued())")
    }
    guard unsafe SSL_CTX_check_private_key(pointer) == 1 else {
      throw TLSError("key file \(keyFile) does not belong to \(chainFile): \(TLSError.queued())")
    }
  }
}
