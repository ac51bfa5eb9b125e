import MartletJSON

/// AppSync's real-time protocol: like the older `graphql-ws`, with an authorization for each connection and each
/// subscription, and a confirmation that a subscription is live.
package enum AppSyncRealtime {
  /// Bounds and deadlines of one server connection.
  package struct ServerLimits: Sendable {
    /// How long a client may take to send `connection_init`.
    package var initialisationTimeout: Duration = .seconds(3)
    /// Subscriptions of one connection at a time; what AppSync grants.
    package var operations = 100
    /// Longest operation id in bytes: it is repeated in every event.
    package var idBytes = 256
    /// Longest message.
    package var messageBytes = 1 << 20
    /// Deepest nesting of a message, and of the text inside it.
    package var messageDepth = 64
    /// Between `ka` messages; a fifth of what the client is told to wait.
    package var keepAliveInterval: Duration = .seconds(60)
    /// What `connectionTimeoutMs` says: silence after which the client gives the connection up.
    package var connectionTimeout: Duration = .seconds(300)
    /// How long a connection may live, so that credentials are looked at again; AppSync's day. Nil for ever.
    package var lifetime: Duration? = .seconds(86_400)
    /// `connection_init` messages of one connection. Each is answered; a flood of them is closed.
    package var initialisations = 10
    /// Malformed messages of one connection. Each is answered; a flood of them is closed.
    package var faults = 100

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }

  /// Bounds and deadlines of one client connection.
  package struct ClientLimits: Sendable {
    /// How long the server may take to acknowledge.
    package var acknowledgementTimeout: Duration = .seconds(10)
    /// The longest silence accepted, whatever the server's `connectionTimeoutMs` says.
    package var longestSilence: Duration = .seconds(3_600)
    /// Longest message accepted.
    package var messageBytes = 16 << 20
    /// Deepest nesting of a message.
    package var messageDepth = 128

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }

  /// The error types a server names.
  package enum ErrorType: String, Sendable {
    case badRequest = "BadRequestException"
    case unauthorized = "UnauthorizedException"
    case unsupported = "UnsupportedOperation"
    case duplicate = "DuplicatedOperationError"
    case tooManySubscriptions = "MaxSubscriptionsReachedError"
    case limitExceeded = "LimitExceededError"
    case validation = "ValidationError"
    case timeout = "RequestTimeoutException"

    /// The `errorCode` beside it, where there is one.
    var code: Int64? {
      switch self {
      case .badRequest, .unsupported: 400
      case .unauthorized: 401
      case .timeout: 408
      case .tooManySubscriptions, .limitExceeded: 429
      case .duplicate, .validation: nil
      }
    }
  }
}
