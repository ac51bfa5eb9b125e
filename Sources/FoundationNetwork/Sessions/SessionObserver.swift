internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The delegate of an application's own session, which gets the challenges and metrics of the sessions that are made
/// from that one's configuration. It gets no data.
///
/// `@unchecked Sendable` holds because a session's delegate is called from the session's queue, whichever thread that
/// is on; it is called here in the same way.
struct SessionObserver: @unchecked Sendable {
  private let delegate: (any URLSessionDelegate)?

  init(_ delegate: (any URLSessionDelegate)?) { self.delegate = delegate }

  typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

  /// Hands a challenge on, to the delegate's method for sessions where it is one of a whole connection, otherwise to
  /// that for tasks.
  /// - Returns: False when the delegate has no such method, and `answer` is not called.
  func challenged(
    _ session: URLSession, _ task: URLSessionTask, _ challenge: URLAuthenticationChallenge, _ answer: @escaping Answer
  ) -> Bool {
    #if canImport(Darwin)
      let isOfConnection = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodNTLM,
      ].contains(challenge.protectionSpace.authenticationMethod)
      if isOfConnection,
        delegate?.urlSession?(session, didReceive: challenge, completionHandler: answer) != nil
      {
        return true
      }
      let delegate = delegate as? any URLSessionTaskDelegate
      return delegate?.urlSession?(session, task: task, didReceive: challenge, completionHandler: answer) != nil
    #else
      // Not optional here: the methods that a delegate lacks leave the decision to the system.
      guard let delegate = delegate as? any URLSessionTaskDelegate else { return false }
      delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: answer)
      return true
    #endif
  }

  func collected(_ session: URLSession, _ task: URLSessionTask, _ metrics: URLSessionTaskMetrics) {
    let delegate = delegate as? any URLSessionTaskDelegate
    #if canImport(Darwin)
      delegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
    #else
      delegate?.urlSession(session, task: task, didFinishCollecting: metrics)
    #endif
  }
}
