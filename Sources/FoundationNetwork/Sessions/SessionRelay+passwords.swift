internal import Foundation
internal import MartletRuntime

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension SessionRelay {
  typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

  /// What a challenge for a client's certificate is called. Foundation on Linux has the constant without its value.
  static let clientCertificate = "NSURLAuthenticationMethodClientCertificate"

  /// The answer to a challenge, as the observer or the relay gives it.
  ///
  /// Where a server asks for a password (401 with `WWW-Authenticate`) and none is given, the response is the task's
  /// result. Foundation on Linux has delivered its head and body by then, but does not end the task when the system's
  /// handling is asked for; and it stops the process for a password in another scheme than Basic. There the task's end
  /// is reported from here, and the task itself is cancelled.
  func answering(_ challenge: URLAuthenticationChallenge, of task: URLSessionTask, _ answer: @escaping Answer) -> Answer
  {
    #if canImport(FoundationNetworking)
      // The system here asks for no certificates; what asks for one is not about a password.
      if challenge.protectionSpace.authenticationMethod == Self.clientCertificate { return answer }
      let isBasic = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
      let hasStored = challenge.proposedCredential != nil
      return { [self] disposition, credential in
        let hasPassword =
          switch disposition {
          case .useCredential: credential != nil
          case .performDefaultHandling: hasStored
          case .cancelAuthenticationChallenge, .rejectProtectionSpace: false
          @unknown default: false
          }
        if disposition == .cancelAuthenticationChallenge || hasPassword && isBasic {
          return answer(disposition, credential)
        }
        loop.execute { [self] in
          ended(task, nil, refusal: nil)
          answer(.cancelAuthenticationChallenge, nil)
        }
      }
    #else
      return answer
    #endif
  }
}
