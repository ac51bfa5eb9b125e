internal import Foundation
package import MartletGraphQLClient

extension TrustRules {
  /// The rules of a client's configuration.
  ///
  /// - Parameters:
  ///   - areAvailable: whether the system shows a server's certificates; Foundation on Linux does not.
  ///   - proxies: whether the system uses a session's proxy; Foundation on Linux does not.
  /// - Throws: `invalidRequest` for settings that would otherwise be ignored, and for a file that cannot be read.
  package init(
    _ configuration: ConnectionConfiguration, areAvailable: Bool = TrustRules.areAvailable,
    proxies: Bool = SystemProxy.isAvailable
  ) throws(GraphQLClientError) {
    try configuration.checkNetwork()
    var unmet: [String] = []
    if configuration.authorityFile != nil, !areAvailable { unmet.append("authorityFile") }
    if configuration.certificateFile != nil { unmet.append("certificateFile") }
    if !configuration.pinnedPublicKeys.isEmpty, !areAvailable { unmet.append("pinnedPublicKeys") }
    if let proxy = configuration.proxy {
      if proxies { _ = try SystemProxy(proxy) } else { unmet.append("proxy") }
    }
    guard unmet.isEmpty else {
      throw GraphQLClientError(
        .invalidRequest,
        "the system's network takes no \(unmet.joined(separator: ", ")): configure the system, or give the client a session"
      )
    }
    self.init(
      authorities: try Self.authorities(configuration.authorityFile),
      pins: configuration.pinnedPublicKeys.compactMap { Data(base64Encoded: $0).map { Array($0) } })
  }

  private static func authorities(_ file: String?) throws(GraphQLClientError) -> [[UInt8]]? {
    guard let file else { return nil }
    let certificates = (try? String(contentsOfFile: file, encoding: .utf8)).map { Certificate.all(inPEM: $0) } ?? []
    // Without one, every server would be refused at its first connection.
    guard !certificates.isEmpty, certificates.allSatisfy({ Certificate.publicKeyInfo(in: $0) != nil }) else {
      throw GraphQLClientError(.invalidRequest, "the authorities cannot be read: \(file)")
    }
    return certificates
  }
}
