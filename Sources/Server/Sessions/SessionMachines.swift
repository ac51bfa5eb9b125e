internal import MartletVocabulary
internal import MartletWireProtocols

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
      var own = SubscriptionsTransportWS.ServerLimits()
      own.initialisationTimeout = limits.connectionInitTimeout
      own.operations = limits.operationsPerConnection
      own.messageBytes = limits.messageBytes
      own.keepAliveInterval = limits.keepAliveInterval
      own.initialisations = limits.initialisations
      own.faults = limits.malformedMessages
      return SubscriptionsTransportWS.ServerMachine(limits: own, at: now)
    case .appSync:
      var own = AppSyncRealtime.ServerLimits()
      own.initialisationTimeout = limits.connectionInitTimeout
      own.operations = limits.operationsPerConnection
      own.messageBytes = limits.messageBytes
      own.keepAliveInterval = limits.appSyncKeepAliveInterval
      own.connectionTimeout = limits.appSyncConnectionTimeout
      own.lifetime = limits.appSyncLifetime
      own.initialisations = limits.initialisations
      own.faults = limits.malformedMessages
      return AppSyncRealtime.ServerMachine(limits: own, at: now)
    }
  }
}
