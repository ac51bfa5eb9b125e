import CMartletOpenSSL
import Foundation
import MartletRuntime
import Testing

/// The TLS of a server that asks clients for a certificate: it decrypts, and passes the bytes to a plain port.
///
/// `@unchecked Sendable` holds because OpenSSL counts the context's references, and nothing changes it after `init`.
final class TLSFront: @unchecked Sendable {
  let port: Int
  private let context: OpaquePointer
  private let listener: Int32
  private let server: Int
  private let shown = Lock<[String]>([])

  /// The subjects of the certificates that clients have shown, in the order of their connections.
  var clients: [String] { shown.withLock { $0 } }

  /// - Parameter certificates: the server's own, and the authority that clients' must be signed by.
  init(to server: Int, _ certificates: TestCertificates) throws {
    self.server = server
    context = try #require(SSL_CTX_new(TLS_server_method()))
    try #require(SSL_CTX_use_certificate_chain_file(context, certificates.certificateFile) == 1)
    try #require(SSL_CTX_use_PrivateKey_file(context, certificates.keyFile, SSL_FILETYPE_PEM) == 1)
    try #require(SSL_CTX_load_verify_locations(context, certificates.authorityFile, nil) == 1)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    // Without it, a read would wait for the next data when a record held none.
    SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, 4, nil)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isBound)
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 { return }
        Thread.detachNewThread { self.serve(client) }
      }
    }
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private func serve(_ client: Int32) {
    let session = SSL_new(context)
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      SSL_free(session)
      close(client)
      close(server)
    }
    SSL_set_fd(session, client)
    guard SSL_accept(session) == 1, let certificate = SSL_get0_peer_certificate(session) else { return }
    var text = [CChar](repeating: 0, count: 256)
    X509_NAME_oneline(X509_get_subject_name(certificate), &text, Int32(text.count))
    let subject = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    shown.withLock { $0.append(subject) }
    var address = Self.loopback(port: self.server)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { pass(session, client, server) }
  }

  /// Passes bytes both ways until one side ends. One thread, as an OpenSSL session must not be used by two.
  private func pass(_ session: OpaquePointer?, _ client: Int32, _ server: Int32) {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      var watched = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      if SSL_pending(session) == 0, poll(&watched, 2, -1) < 0 { return }
      if SSL_pending(session) > 0 || watched[0].revents != 0 {
        let count = SSL_read(session, &buffer, Int32(buffer.count))
        if count > 0 {
          guard send(server, buffer, Int(count), Int32(MSG_NOSIGNAL)) == Int(count) else { return }
        } else if SSL_get_error(session, count) != SSL_ERROR_WANT_READ {
          return
        }
      }
      if watched[1].revents != 0 {
        let count = recv(server, &buffer, buffer.count, 0)
        guard count > 0, SSL_write(session, buffer, Int32(count)) == Int32(count) else { return }
      }
    }
  }
}
