#if canImport(Security)
  internal import Foundation
  internal import Security

  extension TrustRules {
    /// Whether these rules can be kept here.
    package static let areAvailable = true

    static func subject(of challenge: URLAuthenticationChallenge) -> Subject {
      challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust ? .server : .credential
    }

    /// What the system finds about a server's certificates. May take as long as a look at a revocation list.
    func finding(on challenge: URLAuthenticationChallenge) -> Finding? {
      guard let trust = challenge.protectionSpace.serverTrust else { return nil }
      if let authorities {
        let anchors = authorities.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        guard anchors.count == authorities.count else { return .untrusted("an authority cannot be read") }
        SecTrustSetAnchorCertificates(trust, anchors as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)
      }
      var error: CFError?
      guard unsafe SecTrustEvaluateWithError(trust, &error) else { return .untrusted(error.map { "\($0)" } ?? "") }
      let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
      guard let leaf = chain?.first else { return .untrusted("it has no certificate") }
      return .trusted(leaf: Array(SecCertificateCopyData(leaf) as Data))
    }

    /// The credential that says that a server is trusted.
    static func acceptance(of challenge: URLAuthenticationChallenge) -> URLCredential? {
      challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
    }
  }
#else
  internal import FoundationNetworking

  extension TrustRules {
    /// Foundation on Linux shows no certificates.
    package static let areAvailable = false

    static func subject(of challenge: URLAuthenticationChallenge) -> Subject { .credential }
    func finding(on challenge: URLAuthenticationChallenge) -> Finding? { nil }
    static func acceptance(of challenge: URLAuthenticationChallenge) -> URLCredential? { nil }
  }
#endif
