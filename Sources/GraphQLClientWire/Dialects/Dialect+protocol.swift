package import MartletHTTPWire
package import MartletVocabulary

// What each dialect is and can do. Two of them share a subprotocol's name; they are distinguished by AppSync's
// authorization or path (`DialectChoice`). Code asks for a capability, and never which dialect it is.
extension Dialect {
  /// What both ends name in the handshake.
  package var subprotocol: String {
    switch self {
    case .graphqlTransportWS: GraphQLTransportWS.subprotocol
    case .graphqlWS, .appSync: "graphql-ws"
    }
  }

  /// Its name in messages for people.
  package var name: String {
    switch self {
    case .graphqlTransportWS: "graphql-transport-ws"
    case .graphqlWS: "graphql-ws"
    case .appSync: "AppSync's graphql-ws"
    }
  }

  /// Whether queries and mutations may go over its socket too.
  package var carriesQueries: Bool {
    switch self {
    case .graphqlTransportWS, .graphqlWS: true
    case .appSync: false
    }
  }

  /// Whether subscriptions have cursors, so that they resume where they ended.
  package var resumes: Bool {
    switch self {
    case .graphqlTransportWS: true
    case .graphqlWS, .appSync: false
    }
  }

  /// Whether a filter with several operators on one field is refused, as the services of this dialect refuse it.
  package var refusesSeveralOperators: Bool {
    switch self {
    case .graphqlTransportWS, .graphqlWS: false
    case .appSync: true
    }
  }

  /// The close code for a caller with too many connections; nil where the protocol refuses by a message.
  package var tooManyCode: WebSocketCloseCode? {
    switch self {
    case .graphqlTransportWS: 4429
    case .graphqlWS, .appSync: nil
    }
  }

  /// Whether each operation carries an authorization of its own, besides that of the connection.
  package var authorizesEachOperation: Bool {
    switch self {
    case .graphqlTransportWS, .graphqlWS: false
    case .appSync: true
    }
  }

  /// What a client does after a connection of this dialect ended with `code`.
  package func retry(after code: WebSocketCloseCode) -> ConnectionRetry {
    switch self {
    case .graphqlTransportWS: GraphQLTransportWS.retry(after: code)
    case .graphqlWS, .appSync:
      // Neither has a close code of its own for a failing server; what is final, their messages say before.
      code == .internalError ? .afterBackoff : GraphQLTransportWS.retry(after: code)
    }
  }
}

/// What a client does after a connection ended.
package enum ConnectionRetry: Equatable, Sendable {
  /// Reconnect after a pause.
  case afterBackoff
  /// Ask for new credentials first, then as above.
  case withNewCredentials
  /// Trying again would end the same way.
  case never
  /// The server closed normally; reconnect only while operations are open.
  case ifOperationsAreOpen
}

/// How a connection is ended: code and reason.
package struct ConnectionClose: Equatable, Sendable, Error {
  package var code: WebSocketCloseCode
  package var reason: String

  package init(_ code: WebSocketCloseCode, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// Whether an operation is sent again on the next socket when one has ended under it.
package enum OperationRepetition: Equatable, Sendable {
  /// Queries and plain mutations: what was sent and not answered is lost.
  case never
  /// Subscriptions.
  case always
  /// Mutations with a write number: while both servers, the old and the new, agreed to remember it.
  case ifWritesAreAgreed
}
