public import MartletAccess
public import MartletJSON
public import MartletVocabulary

/// What a client shows when it connects, for the program that decides whether it may: a WebSocket, or a request over
/// HTTP.
public struct ConnectionRequest: Sendable {
  /// How a client's operations travel.
  public enum Transport: Sendable, Hashable {
    /// A WebSocket, and the protocol spoken on it.
    case webSocket(Dialect)
    /// A request over HTTP that prefers its results in parts of a multipart body, as subscriptions do.
    case multipart
    /// A request over HTTP that prefers server-sent events, or that is about a stream which several operations share.
    case eventStream
    /// Any other request over HTTP: queries, mutations, batches, and endpoints of the program's own.
    case http
  }

  /// The payload of `connection_init`; for AppSync the authorization of the handshake; over HTTP
  /// the request's header fields of the names in `ServerConfiguration.credentialMembers`. Empty when there was none.
  public let payload: JSONObject
  /// How the client's operations travel.
  public let transport: Transport

  /// The protocol of the client's WebSocket; nil over HTTP.
  public var dialect: Dialect? {
    if case .webSocket(let dialect) = transport { dialect } else { nil }
  }
}

/// What a program answers to a client that connects.
public enum ConnectionAnswer: Sendable, Hashable {
  /// The client is accepted.
  ///
  /// ```swift
  /// .accept(as: Identity(provider: .function, subject: "ada"), validFor: .seconds(3_600))
  /// ```
  /// - Parameters:
  ///   - as: The caller, as resolvers and source streams see it (`request.identity`). Nil for the identity that the
  ///     credentials gave: the API key's, `.system` in development, else `.guest`.
  ///   - payload: Sent with the acknowledgement where the protocol has room for one.
  ///   - validFor: When it is over, for example because a token expires then, the server ends the socket or the stream
  ///     as it refuses one, so that the client comes back with other credentials. Nil for the identity's `expires`,
  ///     which ends it too when it comes first.
  case accept(as: Identity? = nil, payload: JSONObject? = nil, validFor: Duration? = nil)
  /// The client is refused as its protocol does, with this reason: 4403, `connection_error`, or the HTTP status 403.
  case refuse(String = "Forbidden")
}

/// Asked once for each WebSocket and once for each request over HTTP, before its body is read; never on an event loop.
/// An answer that takes longer than the limits' `operationTimeout`, or an error, refuses.
public typealias ConnectionQuestion = @Sendable (ConnectionRequest) async throws -> ConnectionAnswer
