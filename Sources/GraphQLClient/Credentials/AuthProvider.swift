/// Answers with credentials for every transport of a client: HTTP, streams and WebSockets ask the same one.
///
///     let provider = OIDCAuthProvider(oidc, storage: storage)
///     configuration.use(provider)
public protocol AuthProvider: Sendable {
  /// Credentials for an attempt to connect, for a request, or in place of others that end or were refused.
  ///
  /// - Throws: whatever the attempt is to fail with.
  func credentials(for reason: CredentialReason) async throws -> Credentials
}

extension ConnectionConfiguration {
  /// Asks `provider` for credentials: at every attempt to connect, for every request, and before credentials end.
  public mutating func use(_ provider: any AuthProvider) {
    credentials = { reason in try await provider.credentials(for: reason) }
  }
}
