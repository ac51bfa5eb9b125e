internal import CMartletOpenSSL

/// TLS could not be set up: a certificate, key or authority file that does not serve, in OpenSSL's words.
package struct TLSError: Error, Sendable, Equatable, CustomStringConvertible {
  package var message: String

  package init(_ message: String) {
    self.message = message
  }

  package var description: String { message }

  /// The thread's queued OpenSSL errors as text; the queue is empty afterwards.
  static func queued() -> String {
    var texts: [String] = []
    while true {
      let code = ERR_get_error()
      guard code != 0 else { break }
      if let text = unsafe ERR_reason_error_string(code) { texts.append(unsafe String(cString: text)) }
    }
    return texts.isEmpty ? "no details" : texts.joined(separator: "; ")
  }
}
