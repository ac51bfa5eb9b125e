package import MartletGraphQLWire
internal import MartletVocabulary

/// Makes the machine of a session's dialect from the server's limits.
package enum SessionMachines {
  static func machine(
    _ dialect: Dialect, _ limits: ServerLimits, at now: Instant
  ) -> any SubscriptionServerMachine {
    switch dialect {
    case .graphqlTransportWS: GraphQLTransportWS.ServerMachine(limits: graphqlTransportWS(limits), at: now)
    case .graphqlWS: GraphQLWS.ServerMachine(limits: graphqlWS(limits), at: now)
    case .appSync: AppSyncRealtime.ServerMachine(limits: appSync(limits), at: now)
    }
  }

  static func sharedStream(_ limits: ServerLimits, at now: Instant) -> SharedStreamMachine {
    SharedStreamMachine(limits: sharedStream(limits), at: now)
  }

  // MARK: Bounds

  package static func sharedStream(_ limits: ServerLimits) -> SharedStreamLimits {
    var own = SharedStreamLimits()
    own.operations = limits.session.operationsPerConnection
    own.idBytes = limits.session.idBytes
    own.heartbeatInterval = limits.http.streamHeartbeatInterval
    own.positionInterval = limits.session.positionInterval
    return own
  }

  package static func graphqlTransportWS(_ limits: ServerLimits) -> GraphQLTransportWS.ServerLimits {
    var own = GraphQLTransportWS.ServerLimits()
    own.initialisationTimeout = limits.webSocket.connectionInitTimeout
    own.operations = limits.session.operationsPerConnection
    own.idBytes = limits.session.idBytes
    own.messageBytes = limits.webSocket.messageBytes
    own.messageDepth = limits.webSocket.messageDepth
    own.positionInterval = limits.session.positionInterval
    return own
  }

  package static func graphqlWS(_ limits: ServerLimits) -> StartStopServerLimits {
    var own = StartStopServerLimits()
    own.initialisationTimeout = limits.webSocket.connectionInitTimeout
    own.operations = limits.session.operationsPerConnection
    own.idBytes = limits.session.idBytes
    own.messageBytes = limits.webSocket.messageBytes
    own.heldBytes = limits.webSocket.heldBytes
    own.messageDepth = limits.webSocket.messageDepth
    own.keepAliveInterval = limits.webSocket.keepAliveInterval
    own.initialisations = limits.webSocket.initialisations
    own.faults = limits.webSocket.malformedMessages
    return own
  }

  package static func appSync(_ limits: ServerLimits) -> AppSyncRealtime.ServerLimits {
    var own = AppSyncRealtime.ServerLimits()
    own.session = graphqlWS(limits)
    own.session.keepAliveInterval = limits.webSocket.appSyncKeepAliveInterval
    own.connectionTimeout = limits.webSocket.appSyncConnectionTimeout
    own.lifetime = limits.webSocket.appSyncLifetime
    own.initialisationGrace = limits.webSocket.appSyncInitGrace
    return own
  }
}
