internal import Foundation

extension ConnectionConfiguration {
  /// Whether it needs connections that other clients do not share.
  package var hasOwnNetwork: Bool {
    authorityFile != nil || certificateFile != nil || !pinnedPublicKeys.isEmpty || proxy != nil
  }

  /// Names what cannot be used before anything is sent; libcurl would say so at the first connection.
  package func checkNetwork() throws(GraphQLClientError) {
    try Self.check(authorityFile, "the authorities", "-----BEGIN ", "certificates")
    try Self.check(certificateFile, "the client's certificate", "-----BEGIN CERTIFICATE", "certificate")
    try Self.check(certificateFile == nil ? nil : keyFile ?? certificateFile, "the client's key", "PRIVATE KEY", "key")
    for pin in pinnedPublicKeys where Data(base64Encoded: pin)?.count != 32 {
      throw GraphQLClientError(.invalidRequest, "a pinned key is not a SHA-256 digest in base64: \(pin)")
    }
    if let proxy {
      guard let url = URL(string: proxy), url.scheme == "http" || url.scheme == "https", url.host?.isEmpty == false
      else {
        throw GraphQLClientError(.invalidRequest, "the proxy is not a URL such as http://proxy.example:3128")
      }
    }
  }

  private static func check(
    _ file: String?, _ what: String, _ mark: String, _ content: String
  ) throws(GraphQLClientError) {
    guard let file else { return }
    guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.contains(mark) else {
      throw GraphQLClientError(.invalidRequest, "\(what) cannot be read: \(file) has no \(content)")
    }
  }
}
