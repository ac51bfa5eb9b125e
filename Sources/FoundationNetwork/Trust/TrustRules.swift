internal import Foundation
internal import MartletGraphQLClient
internal import MartletHTTPWire

/// What a client's configuration asks of a server's certificate beyond the system's own rules, and what follows from it
/// for a challenge. Decides only: the system's part is `SystemTrust`.
package struct TrustRules: Sendable, Equatable {
  /// Certificates that are trusted in place of the system's, in DER; nil for the system's.
  package var authorities: [[UInt8]]?
  /// SHA-256 digests of public keys, of which the server must show one; empty accepts every key.
  package var pins: [[UInt8]]

  package init(authorities: [[UInt8]]? = nil, pins: [[UInt8]] = []) {
    self.authorities = authorities
    self.pins = pins
  }

  /// Whether there is nothing beyond the system's rules.
  package var isEmpty: Bool { authorities == nil && pins.isEmpty }

  /// What a challenge asks for.
  package enum Subject: Sendable {
    /// Whether the server's certificate is trusted.
    case server
    /// A client's certificate, a password, or what a proxy asks for.
    case credential
  }

  /// What the system found about a server's certificates, with `authorities` in place of its own when there are some.
  package enum Finding: Sendable, Equatable {
    /// The leaf's certificate, in DER.
    case trusted(leaf: [UInt8])
    case untrusted(String)
  }

  package enum Decision: Sendable, Equatable {
    /// The observer decides when there is one, otherwise the system.
    case leave
    /// The observer decides when there is one, otherwise the server is trusted.
    case accept
    /// The connection fails, with this text.
    case refuse(String)
  }

  /// What follows for a challenge. An observer can refuse what these rules accept, and never the reverse.
  ///
  /// - Parameter finding: nil where the system gave nothing to look at.
  package func decision(on subject: Subject, _ finding: Finding?) -> Decision {
    guard subject == .server, !isEmpty else { return .leave }
    switch finding {
    case nil: return .refuse("the system shows no certificate of the server")
    case .untrusted(let reason): return .refuse("the server's certificate is not trusted: \(reason)")
    case .trusted(let leaf):
      guard !pins.isEmpty else { return .accept }
      guard let key = Certificate.publicKeyInfo(in: leaf) else {
        return .refuse("the server's certificate cannot be read")
      }
      return pins.contains(SHA256.digest(key)) ? .accept : .refuse("the server's public key is not a pinned one")
    }
  }
}
