public import MartletGraphQLClient

extension OIDCAuthProvider {
  /// Signs in with the user's browser on this machine: listens at a port of 127.0.0.1, has the provider's page opened,
  /// and waits until the browser is sent back (RFC 8252 with PKCE). Suspends for as long as the user takes; cancelling
  /// the task gives up and closes the port.
  ///
  ///     try await provider.signInWithBrowser { page in NSWorkspace.shared.open(page) }
  ///
  /// The provider has to accept `http://127.0.0.1` with any port as this program's address.
  ///
  /// - Parameter open: Opens the page in the user's browser.
  /// - Throws: `OIDCError`; what `open` throws; `CancellationError`.
  public func signInWithBrowser(opening open: (String) async throws -> Void) async throws {
    let port: LoopbackPort
    do { port = try LoopbackPort() } catch {
      throw OIDCError(.unreachable, "This machine has no port to which the browser could be sent.")
    }
    let signIn = try await beginSignIn(redirect: port.address)
    try await open(signIn.page)
    for await target in port.targets {
      do {
        return try await finishSignIn(signIn, callback: port.address + target.dropFirst())
      } catch let error as OIDCError where error.code == .mismatch {
        // Any page can send the browser here; the one that counts knows the state.
        continue
      }
    }
    throw CancellationError()
  }
}
