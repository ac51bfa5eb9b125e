internal import MartletAccess
internal import MartletRuntime
internal import MartletVocabulary

/// A caller that a custom authorizer accepted.
package struct AuthorizerGrant: Sendable, Hashable {
  /// The authorizer as it was configured then.
  let authorizer: HTTPAuthorizer
  let identity: Identity
}

/// A credential about which the authorizer has to be asked.
struct UnjudgedCredential: Sendable {
  let text: String
  let digest: [UInt8]
}

/// A caller that waits for an authorizer.
final class AuthorizerWaiter: Sendable {
  let resume: @Sendable (AuthorizerMachine<AuthorizerWaiter>.Outcome) -> Void

  init(_ resume: @escaping @Sendable (AuthorizerMachine<AuthorizerWaiter>.Outcome) -> Void) { self.resume = resume }
}

/// The custom authorizer of a server, for all its loops. From any thread.
///
/// Answers that may be used again are found here; requests are made by a driver on one loop.
final class AuthorizerDesk: Sendable {
  private struct State {
    var machine: AuthorizerMachine<AuthorizerWaiter>
    /// Nil while the server is not running.
    var driver: LoopBound<AuthorizerDriver>?
  }

  let authorizer: HTTPAuthorizer
  let limits: AuthorizerLimits
  private let state: Lock<State>

  init(_ authorizer: HTTPAuthorizer, _ limits: AuthorizerLimits) {
    self.authorizer = authorizer
    self.limits = authorizer.limits(limits)
    state = Lock(State(machine: AuthorizerMachine(limits: self.limits)))
  }

  /// The grant of a credential that was accepted before; `calendar` is time since 1970.
  func remembered(_ digest: [UInt8], at calendar: Duration) -> AuthorizerGrant? {
    state.withLock { $0.machine.remembered(digest, at: calendar) }.map { grant($0) }
  }

  func grant(_ identity: Identity) -> AuthorizerGrant { AuthorizerGrant(authorizer: authorizer, identity: identity) }

  /// Asks about a credential. `completion` is called once, on any thread.
  func resolve(
    _ credential: UnjudgedCredential,
    _ completion: @escaping @Sendable (AuthorizerMachine<AuthorizerWaiter>.Outcome) -> Void
  ) {
    guard let driver = state.withLock({ $0.driver }) else { return completion(.failed(.stopped)) }
    let waiter = AuthorizerWaiter(completion)
    driver.loop.execute { driver.value.judge(credential, waiter) }
  }

  // MARK: The driver

  func attach(_ driver: LoopBound<AuthorizerDriver>?) { state.withLock { $0.driver = driver } }

  /// What the machine decides about an event, and when it waits for the next.
  func step(
    _ event: (inout AuthorizerMachine<AuthorizerWaiter>) -> [AuthorizerMachine<AuthorizerWaiter>.Action]
  ) -> (actions: [AuthorizerMachine<AuthorizerWaiter>.Action], deadline: Instant?) {
    state.withLock { state in
      let actions = event(&state.machine)
      return (actions, state.machine.deadline)
    }
  }
}
