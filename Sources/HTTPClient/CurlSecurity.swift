internal import CMartletCurl

/// What connections by libcurl trust, show and pass through. The same for requests and for streams of bytes.
package struct CurlSecurity: Sendable, Hashable {
  /// Authorities in a PEM file. Nil: the system's.
  package var authorityFile: String?
  /// The client's own certificate and its key, PEM files.
  package var certificateFile: String?
  package var keyFile: String?
  /// SHA-256 digests of public keys in base64, of which the server must show one; empty accepts every key.
  package var pinnedPublicKeys: [String] = []
  /// Nil takes what the usual variables name.
  package var proxy: String?

  package init() {}
}

extension EasyHandle {
  func set(_ security: CurlSecurity) {
    if let file = security.authorityFile { set(CURLOPT_CAINFO, file) }
    if let file = security.certificateFile {
      set(CURLOPT_SSLCERT, file)
      set(CURLOPT_SSLKEY, security.keyFile ?? file)
    }
    if !security.pinnedPublicKeys.isEmpty {
      set(CURLOPT_PINNEDPUBLICKEY, security.pinnedPublicKeys.map { "sha256//\($0)" }.joined(separator: ";"))
    }
    if let proxy = security.proxy { set(CURLOPT_PROXY, proxy) }
  }
}
