internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// Credentials from an OpenID Connect provider: signs in on another device or in a browser, keeps the tokens, and
/// renews them before they end, once for all callers that wait.
///
///     let oidc = OIDCConfiguration(issuer: "https://login.example", clientID: "board")
///     let provider = OIDCAuthProvider(oidc, storage: storage, environment: environment)
///     try await provider.signIn { code in print("Open \(code.page) and type \(code.userCode)") }
///     configuration.use(provider)
///
/// A token that the server refuses is renewed once. Where no user is signed in, or the provider does not take the
/// refresh token any longer, attempts fail with `OIDCError` (`signInRequired`).
public final class OIDCAuthProvider: AuthProvider {
  private typealias Waiter = CheckedContinuation<TokenSet, any Error>

  private struct State {
    var keeper: TokenKeeper<Waiter>
    var isLoaded = false
    var addresses: ProviderAddresses?
  }

  private let configuration: OIDCConfiguration
  private let storage: TokenStorage
  private let requests: ProviderRequests
  private let environment: ClientEnvironment
  private let state: Lock<State>

  /// - Parameters:
  ///   - storage: Where tokens are kept between runs. Several processes of one user may share it.
  ///   - environment: Where the requests to the provider are made.
  public init(_ configuration: OIDCConfiguration, storage: any CredentialStorage, environment: ClientEnvironment) {
    self.configuration = configuration
    self.storage = TokenStorage(storage, configuration.name, calendar: environment.calendar)
    self.environment = environment
    requests = ProviderRequests(environment)
    let lead = configuration.lead.components
    state = Lock(State(keeper: TokenKeeper(lead: lead.seconds * 1_000 + lead.attoseconds / 1_000_000_000_000_000)))
  }

  private var now: Int64 { environment.calendar() }

  // MARK: Credentials

  /// The present token, renewed where it ends soon or was refused. One that is good is given at once, also while it is
  /// being renewed.
  /// - Throws: `OIDCError`.
  public func credentials(for reason: CredentialReason) async throws -> Credentials {
    try await load()
    if storage.isToRepeat { await keepAgain() }
    let now = now
    let tokens = try await withCheckedThrowingContinuation { (waiter: Waiter) in
      perform(state.withLock { $0.keeper.need(waiter, TokenKeeper.Need(reason), at: now) })
    }
    let shown = configuration.showsIDToken ? tokens.id ?? tokens.access : tokens.access
    var credentials = Credentials.bearer(shown)
    credentials.expiresIn = tokens.end.map { .milliseconds(max(0, $0 - self.now)) }
    return credentials
  }

  /// Whether a user is signed in; the provider may still refuse to renew.
  public var isSignedIn: Bool {
    get async throws {
      try await load()
      return state.withLock { $0.keeper.tokens != nil }
    }
  }

  private func load() async throws {
    if state.withLock({ $0.isLoaded }) { return }
    let kept = try await storage.read()
    let actions = state.withLock { state -> [TokenKeeper<Waiter>.Action] in
      guard !state.isLoaded else { return [] }
      state.isLoaded = true
      return kept.map { state.keeper.signedIn($0) } ?? []
    }
    perform(actions)
  }

  // MARK: Acting

  private func perform(_ actions: [TokenKeeper<Waiter>.Action]) {
    for action in actions {
      switch action {
      case .refresh(let number, let token): environment.spawner.spawn { await self.refresh(number, token) }
      case .give(let waiter, let tokens): waiter.resume(returning: tokens)
      case .fail(let waiter, let error): waiter.resume(throwing: error)
      case .store: break
      }
    }
  }

  private func refresh(_ number: Int, _ token: String) async {
    var token = token
    if await isAdopted(number, &token) { return }
    while true {
      let answer = await answer([("grant_type", "refresh_token"), ("refresh_token", token)])
      if answer.endsRefreshToken {
        let used = token
        if await isAdopted(number, &token) { return }
        // Another process has used it, and kept the one that followed.
        if token != used { continue }
      }
      // In turn: a renewed token that is kept after the user has signed out would sign in again with the next run.
      await storage.inTurn {
        let now = now
        let actions = state.withLock { $0.keeper.received(number, answer, at: now) }
        // Kept before they are used: a refresh token that was used and not kept signs the user out.
        for case .store(let tokens) in actions { try? await storage.write(tokens) }
        perform(actions)
      }
      return
    }
  }

  /// Takes what another process has kept in the storage, if that is newer. Returns whether it serves as it is; `token`
  /// is the refresh token to send otherwise.
  private func isAdopted(_ number: Int, _ token: inout String) async -> Bool {
    // The storage of a process that could not write to it is older than the process.
    guard storage.isCurrent, let kept = try? await storage.read() else { return false }
    let now = now
    switch state.withLock({ $0.keeper.found(kept, for: number, at: now) }) {
    case .none: return false
    case .refresh(let newer):
      token = newer
      return false
    case .done(let actions):
      perform(actions)
      return true
    }
  }

  private func keep(_ tokens: TokenSet) async throws {
    try await storage.inTurn {
      try await storage.write(tokens)
      perform(
        state.withLock { state in
          state.isLoaded = true
          return state.keeper.signedIn(tokens)
        })
    }
  }

  /// Gives the storage again what it did not take.
  private func keepAgain() async {
    await storage.inTurn {
      guard storage.isToRepeat else { return }
      try? await storage.write(state.withLock { $0.keeper.tokens })
    }
  }

  private func answer(_ fields: [(String, String)]) async -> TokenAnswer {
    do throws(OIDCError) {
      let address = try await addresses().token
      let (status, body) = try await requests.post(address, fields + [("client_id", configuration.clientID)])
      return TokenAnswer(status: status, body: body, at: now, showsIDToken: configuration.showsIDToken)
    } catch {
      return .failed(error)
    }
  }

  private func addresses() async throws(OIDCError) -> ProviderAddresses {
    if let known = state.withLock({ $0.addresses }) { return known }
    let found = try await requests.addresses(of: configuration.issuer)
    state.withLock { $0.addresses = found }
    return found
  }

  // MARK: Signing in

  /// Signs in on another device: shows the user a code and waits until it was typed in. Suspends for as long as the
  /// provider waits; cancelling the task gives up.
  ///
  /// - Parameter show: Shows the code to the user.
  /// - Throws: `OIDCError`; `CancellationError`.
  public func signIn(showing show: @Sendable (DeviceCode) async -> Void) async throws {
    guard let address = try await addresses().device else {
      throw OIDCError(.refused, "The provider does not sign in by another device.")
    }
    var fields = [("client_id", configuration.clientID), ("scope", configuration.scopes.joined(separator: " "))]
    if let audience = configuration.audience { fields.append(("audience", audience)) }
    let (status, body) = try await requests.post(address, fields)
    var signIn = try DeviceSignIn(status: status, body: body, at: await requests.loopTime())
    await show(signIn.code)
    var action = signIn.first(at: await requests.loopTime())
    while true {
      switch action {
      case .ask(let moment, let code):
        await requests.wait(until: moment)
        try Task.checkCancellation()
        let answer = await answer([
          ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code),
        ])
        action = signIn.received(answer, at: await requests.loopTime())
      case .done(let tokens): return try await keep(tokens)
      case .fail(let error): throw error
      }
    }
  }

  /// Begins to sign in with a browser on this machine.
  ///
  /// - Parameter redirect: Where the browser is sent to at the end, as it is registered with the provider.
  /// - Throws: `OIDCError` when the provider cannot be asked for its addresses.
  public func beginSignIn(redirect: String) async throws -> DesktopSignIn {
    guard let address = try await addresses().authorization else {
      throw OIDCError(.refused, "The provider does not sign in by a browser.")
    }
    var random = SystemChance.generator()
    return DesktopSignIn(authorization: address, redirect: redirect, configuration, using: &random)
  }

  /// Finishes to sign in with the address that the browser was sent to.
  /// - Throws: `OIDCError`.
  public func finishSignIn(_ signIn: DesktopSignIn, callback: String) async throws {
    let code = try signIn.code(from: callback)
    let answer = await answer([
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", signIn.redirect),
      ("code_verifier", signIn.verifier),
    ])
    switch answer {
    case .tokens(let tokens): try await keep(tokens)
    case .error(let code):
      throw OIDCError(.refused, "The provider refused to sign in: \(TokenKeeper<Int>.plain(code)).")
    case .failed(let error): throw error
    }
  }

  /// Forgets the tokens. What is open stays so until its token ends.
  /// - Throws: `OIDCError` when the storage fails: the user is signed out in this process, and may be signed in again
  ///   with the next one.
  public func signOut() async throws {
    try await storage.inTurn {
      perform(
        state.withLock { state in
          state.isLoaded = true
          return state.keeper.signOut()
        })
      try await storage.write(nil)
    }
  }
}
