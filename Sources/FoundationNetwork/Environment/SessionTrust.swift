package import MartletGraphQLClient

#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// What a configuration trusts and shows. No setting of it has an implementation over the system's network yet.
package enum SessionTrust {
  /// Proxies and trust are the system's.
  /// - Throws: `invalidRequest` for settings that would otherwise be ignored.
  package static func delegate(
    for configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> (any URLSessionDelegate)? {
    var unmet: [String] = []
    if configuration.authorityFile != nil { unmet.append("authorityFile") }
    if configuration.certificateFile != nil { unmet.append("certificateFile") }
    if !configuration.pinnedPublicKeys.isEmpty { unmet.append("pinnedPublicKeys") }
    if configuration.proxy != nil { unmet.append("proxy") }
    guard unmet.isEmpty else {
      throw GraphQLClientError(
        .invalidRequest,
        "the system's network takes no \(unmet.joined(separator: ", ")): configure the system, or give the client a session"
      )
    }
    return nil
  }
}
