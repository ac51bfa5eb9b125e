public import MartletJSON

/// A client that asks to be let in over a WebSocket; its key, where one is needed, was good.
public struct ConnectionRequest: Sendable {
  /// The protocols a client may speak over a WebSocket.
  public enum Dialect: Sendable, Hashable {
    /// `graphql-transport-ws`.
    case graphqlTransportWS
    /// The older `graphql-ws`.
    case graphqlWS
    /// AppSync's real-time protocol.
    case appSync
  }

  /// The payload of `connection_init`; for AppSync the authorization of the handshake. Empty when there was none.
  public let payload: JSONObject
  /// Which protocol the client speaks.
  public let dialect: Dialect
}

/// What a program answers to a client that asks to be let in.
public enum ConnectionAnswer: Sendable, Hashable {
  /// It is acknowledged, with this payload where its protocol has room for one.
  case accept(payload: JSONObject? = nil)
  /// It is refused as its protocol does, with this reason: 4403, or `connection_error`.
  case refuse(String = "Forbidden")
}

/// Asked once for each WebSocket, never on an event loop. An answer that takes longer than the limits'
/// `operationTimeout`, or an error, refuses.
public typealias ConnectionQuestion = @Sendable (ConnectionRequest) async throws -> ConnectionAnswer
