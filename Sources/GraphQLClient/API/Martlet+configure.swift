internal import MartletRuntime

extension Martlet {
  /// Why there is no client for `Martlet.API`.
  public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it was.
    public enum Reason: Sendable, Hashable {
      /// Something was asked before `Martlet.configure`.
      case notConfigured
      /// `Martlet.configure` was called before.
      case alreadyConfigured
      /// The file cannot be read.
      case unreadable
      /// A setting is missing, unknown or wrong.
      case invalid
    }

    /// What kind of failure it was.
    public var reason: Reason
    /// What happened, in words; of a setting, its name and where it stands.
    public var message: String

    /// The same as `message`.
    public var errorDescription: String { message }
    /// The same as `message`.
    public var description: String { message }

    package init(reason: Reason, message: String) {
      self.reason = reason
      self.message = message
    }

    /// What the caller can do about it.
    public var recoverySuggestion: String {
      switch reason {
      case .notConfigured: "Call Martlet.configure when the program starts."
      case .alreadyConfigured: "Call Martlet.configure once; give other parts a GraphQLClient of their own."
      case .unreadable: "Check the file's path and rights."
      case .invalid: "Correct the setting; the guide lists all of them."
      }
    }
  }

  /// The source of the client. Each task sees its own when one was set around it.
  @TaskLocal package static var holder = ClientHolder()

  /// The client that `Martlet.API` uses here.
  /// - Throws: `ConfigurationError` when there is none yet.
  public static var client: GraphQLClient {
    get throws(ConfigurationError) { try holder.client() }
  }

  /// Gives `Martlet.API` its client.
  /// - Throws: `ConfigurationError` at the second call.
  public static func configure(_ client: GraphQLClient) throws(ConfigurationError) {
    try holder.fill { () throws(ConfigurationError) in client }
  }

  /// Runs `body` with another client for `Martlet.API`, which also the tasks that `body` starts as its children see.
  /// For tests, and for programs that talk to several servers.
  public static func withClient<Answer>(
    _ client: GraphQLClient, _ body: () async throws -> Answer
  ) async rethrows -> Answer {
    try await $holder.withValue(ClientHolder(client), operation: body)
  }

  /// The same for code that does not wait.
  public static func withClient<Answer>(
    _ client: GraphQLClient, _ body: () throws -> Answer
  ) rethrows -> Answer {
    try $holder.withValue(ClientHolder(client), operation: body)
  }
}

/// Holds the client, once there is one.
package final class ClientHolder: Sendable {
  private let held: Lock<GraphQLClient?>

  package init(_ client: GraphQLClient? = nil) {
    held = Lock(client)
  }

  func client() throws(Martlet.ConfigurationError) -> GraphQLClient {
    guard let client = held.withLock({ $0 }) else {
      throw Martlet.ConfigurationError(reason: .notConfigured, message: "Martlet.configure has not been called")
    }
    return client
  }

  package func fill(_ make: () throws(Martlet.ConfigurationError) -> GraphQLClient) throws(Martlet.ConfigurationError) {
    let again = Martlet.ConfigurationError(
      reason: .alreadyConfigured, message: "Martlet.configure was called a second time")
    // Looked at first, so that a second call says so whatever its settings are.
    guard held.withLock({ $0 == nil }) else { throw again }
    let client = try make()
    let isFirst = held.withLock { held in
      if held != nil { return false }
      held = client
      return true
    }
    guard isFirst else { throw again }
  }
}
