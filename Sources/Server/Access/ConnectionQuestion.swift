public import MartletJSON

/// A client that asks to be let in, over a WebSocket or for a stream over HTTP; its key, where one is needed, was good.
public struct ConnectionRequest: Sendable {
  /// The protocols a client may speak.
  public enum Dialect: Sendable, Hashable {
    /// `graphql-transport-ws`.
    case graphqlTransportWS
    /// The older `graphql-ws`.
    case graphqlWS
    /// AppSync's real-time protocol.
    case appSync
    /// A subscription over HTTP, in parts of a multipart body.
    case multipart
    /// Server-sent events: one operation, or a stream that several share.
    case eventStream
  }

  /// The payload of `connection_init`; for AppSync the authorization of the handshake; over HTTP
  /// the request's header fields of the names in `ServerConfiguration.credentialMembers`. Empty when there was none.
  public let payload: JSONObject
  /// Which protocol the client speaks.
  public let dialect: Dialect
}

/// What a program answers to a client that asks to be let in.
public enum ConnectionAnswer: Sendable, Hashable {
  /// It is let in, and acknowledged with this payload where its protocol has room for one. When `validFor` is over, for
  /// example because a token expires then, the server ends the socket or the stream as it refuses one, so that the client
  /// comes back with other credentials; nil for no end.
  case accept(payload: JSONObject? = nil, validFor: Duration? = nil)
  /// It is refused as its protocol does, with this reason: 4403, `connection_error`, or the HTTP status 403.
  case refuse(String = "Forbidden")
}

/// Asked once for each WebSocket and each stream over HTTP, never on an event loop. An answer that takes longer than the limits'
/// `operationTimeout`, or an error, refuses.
public typealias ConnectionQuestion = @Sendable (ConnectionRequest) async throws -> ConnectionAnswer
