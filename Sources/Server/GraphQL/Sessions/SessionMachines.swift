internal import MartletGraphQLWire
internal import MartletVocabulary

/// Makes the machine of a session's dialect from the server's limits.
enum SessionMachines {
  static func sharedStream(_ limits: ServerLimits, at now: Instant) -> SharedStreamMachine {
    var own = SharedStreamLimits()
    own.operations = limits.operationsPerConnection
    own.heartbeatInterval = limits.streamHeartbeatInterval
    own.positionInterval = limits.positionInterval
    return SharedStreamMachine(limits: own, at: now)
  }

  static func machine(
    _ dialect: SubscriptionDialect, _ limits: ServerLimits, at now: Instant
  ) -> any SubscriptionServerMachine {
    switch dialect {
    case .transportWS:
      var own = GraphQLTransportWS.ServerLimits()
      own.initialisationTimeout = limits.connectionInitTimeout
      own.operations = limits.operationsPerConnection
      own.messageBytes = limits.messageBytes
      own.positionInterval = limits.positionInterval
      return GraphQLTransportWS.ServerMachine(limits: own, at: now)
    case .legacy:
      return SubscriptionsTransportWS.ServerMachine(limits: older(limits, keepAlive: limits.keepAliveInterval), at: now)
    case .appSync:
      var own = AppSyncRealtime.ServerLimits()
      own.session = older(limits, keepAlive: limits.appSyncKeepAliveInterval)
      own.connectionTimeout = limits.appSyncConnectionTimeout
      own.lifetime = limits.appSyncLifetime
      own.initialisationGrace = limits.appSyncInitGrace
      return AppSyncRealtime.ServerMachine(limits: own, at: now)
    }
  }

  private static func older(_ limits: ServerLimits, keepAlive: Duration?) -> StartStopServerLimits {
    var own = StartStopServerLimits()
    own.initialisationTimeout = limits.connectionInitTimeout
    own.operations = limits.operationsPerConnection
    own.messageBytes = limits.messageBytes
    own.keepAliveInterval = keepAlive
    own.initialisations = limits.initialisations
    own.faults = limits.malformedMessages
    return own
  }
}
