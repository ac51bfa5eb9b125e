#if canImport(FoundationNetworking)
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// What the sessions made here decide by themselves, and to which delegate of an application's the rest goes.
package struct SessionDelegation {
  package var trust: TrustRules
  /// Gets challenges that the rules leave or accept, and metrics. A `URLSessionTaskDelegate`, or one of sessions.
  package var observer: (any URLSessionDelegate)?

  package init(trust: TrustRules = TrustRules(), observer: (any URLSessionDelegate)? = nil) {
    self.trust = trust
    self.observer = observer
  }
}
