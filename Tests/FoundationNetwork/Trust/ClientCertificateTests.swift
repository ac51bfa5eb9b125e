import Foundation
import MartletRuntime
import Testing

@testable import MartletFoundationNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client's certificate comes from the delegate of an application's own session, whose answer goes to the system.
/// Foundation on Linux never asks for one, so that the challenge is made here; the code between the system and the
/// application is that of Apple platforms.
@Suite(.timeLimit(.minutes(1))) struct ClientCertificateTests {
  /// The delegate of an application's session.
  private final class Application: NSObject, URLSessionTaskDelegate, Sendable {
    let asked = Lock<[String]>([])
    let disposition: URLSession.AuthChallengeDisposition
    /// Stands for the identity: Foundation on Linux has credentials of passwords only.
    let identity = URLCredential(user: "identity", password: "", persistence: .none)

    init(_ disposition: URLSession.AuthChallengeDisposition) { self.disposition = disposition }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      asked.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
      completionHandler(disposition, disposition == .useCredential ? identity : nil)
    }
  }

  private final class Sender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }

  /// What the system gets when a server asks for a client's certificate.
  private static func answer(
    _ delegation: SessionDelegation
  ) throws -> (URLSession.AuthChallengeDisposition, URLCredential?)? {
    let relay = SessionRelay(DispatchLoop(name: "test"), delegation)
    let session = SessionRelay.session(.ephemeral, connections: nil, relay)
    defer { session.invalidateAndCancel() }
    let space = URLProtectionSpace(
      host: "server.test", port: 443, protocol: "https", realm: nil,
      authenticationMethod: SessionRelay.clientCertificate)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
      sender: Sender())
    let task = session.dataTask(with: URLRequest(url: try #require(URL(string: "https://server.test/"))))
    let given = Lock<(URLSession.AuthChallengeDisposition, URLCredential?)?>(nil)
    relay.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
      given.withLock { $0 = (disposition, credential) }
    }
    return given.withLock { $0 }
  }

  @Test(arguments: [TrustRules(), TrustRules(pins: [[1, 2, 3]])])
  func `the application's delegate gives the certificate, whatever is asked of the server's`(rules: TrustRules) throws {
    let application = Application(.useCredential)
    let given = try #require(try Self.answer(SessionDelegation(trust: rules, observer: application)))
    #expect(application.asked.withLock { $0 } == [SessionRelay.clientCertificate])
    #expect(given.0 == .useCredential && given.1 === application.identity)
  }

  @Test(arguments: [
    URLSession.AuthChallengeDisposition.performDefaultHandling, .cancelAuthenticationChallenge, .rejectProtectionSpace,
  ])
  func `an application that gives none has its own answer passed on`(
    disposition: URLSession.AuthChallengeDisposition
  ) throws {
    let given = try #require(try Self.answer(SessionDelegation(observer: Application(disposition))))
    #expect(given.0 == disposition && given.1 == nil)
  }

  @Test func `without a delegate the system decides`() throws {
    let given = try #require(try Self.answer(SessionDelegation()))
    #expect(given.0 == .performDefaultHandling && given.1 == nil)
  }
}
