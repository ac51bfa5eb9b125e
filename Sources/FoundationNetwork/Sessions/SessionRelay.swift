internal import Foundation
internal import MartletRuntime

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The delegate of the sessions made here: what exchanges and WebSockets have in common. Its calls come on the loop's
/// queue, and become turns of the loop.
///
/// A subclass holds what its tasks report to, and gets their ends by `ended`.
///
/// `@unchecked Sendable` holds because `refusals`, and what subclasses add, is touched only on the loop's queue.
class SessionRelay: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
  let loop: DispatchLoop
  private let trust: TrustRules
  private let observer: SessionObserver
  /// Why a connection was refused, until its task has ended.
  private var refusals: [ObjectIdentifier: String] = [:]

  init(_ loop: DispatchLoop, _ delegate: SessionDelegation) {
    self.loop = loop
    trust = delegate.trust
    observer = SessionObserver(delegate.observer)
  }

  /// A session of a relay's, made from a configuration, which stays as it is.
  static func session(
    _ configuration: URLSessionConfiguration, connections: Int?, _ relay: SessionRelay
  ) -> URLSession {
    let own = (configuration.copy() as? URLSessionConfiguration) ?? configuration
    if let connections { own.httpMaximumConnectionsPerHost = connections }
    // The loop's timers decide; a week is longer than any of them. Longer values overflow in some versions.
    own.timeoutIntervalForRequest = 604_800
    own.timeoutIntervalForResource = 604_800
    return URLSession(configuration: own, delegate: relay, delegateQueue: relay.loop.operations)
  }

  /// The last call for a task. `refusal` is why its connection was refused by this side's rules, if it was.
  func ended(_ task: URLSessionTask, _ error: (any Error)?, refusal: String?) {}

  /// A stretch of a task's body has left.
  func sentBody(_ task: URLSessionTask) {}

  // What the protocol of tasks has stands here: outside Darwin a subclass adds nothing to a conformance of this class.

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    loop.turn { sentBody(task) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    loop.turn { ended(task, error, refusal: refusals.removeValue(forKey: ObjectIdentifier(task))) }
  }

  /// Where a request goes is decided by the client's own code, the same over every network; a WebSocket's handshake
  /// that is redirected is refused, with the status.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// Also of whole connections: a delegate without the method for sessions gets these here.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let subject = TrustRules.subject(of: challenge)
    let finding = subject == .server && !trust.isEmpty ? trust.finding(on: challenge) : nil
    let answer = answering(challenge, of: task, completionHandler)
    switch trust.decision(on: subject, finding) {
    case .refuse(let reason):
      refusals[ObjectIdentifier(task)] = reason
      completionHandler(.cancelAuthenticationChallenge, nil)
    case .accept:
      if !observer.challenged(session, task, challenge, answer) {
        completionHandler(.useCredential, TrustRules.acceptance(of: challenge))
      }
    case .leave:
      if !observer.challenged(session, task, challenge, answer) { answer(.performDefaultHandling, nil) }
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    observer.collected(session, task, metrics)
  }
}
