internal import MartletWireProtocols

/// Makes the machine of a client's dialect from its configuration.
enum ClientMachines {
  static func machine(_ configuration: ConnectionConfiguration) -> any SubscriptionClientMachine {
    switch configuration.dialect {
    case .graphqlTransportWS:
      var limits = GraphQLTransportWS.ClientLimits()
      limits.acknowledgementTimeout = configuration.acknowledgementTimeout
      limits.pingInterval = configuration.pingInterval
      limits.pongTimeout = configuration.pongTimeout
      limits.messageBytes = configuration.messageBytes
      return GraphQLTransportWS.ClientMachine(limits: limits, wants: configuration.resumes ? .all : .none)
    case .graphqlWS:
      var limits = SubscriptionsTransportWS.ClientLimits()
      limits.acknowledgementTimeout = configuration.acknowledgementTimeout
      limits.keepAliveTimeout = configuration.keepAliveTimeout
      limits.messageBytes = configuration.messageBytes
      return SubscriptionsTransportWS.ClientMachine(limits: limits)
    case .appSync:
      var limits = AppSyncRealtime.ClientLimits()
      limits.acknowledgementTimeout = configuration.acknowledgementTimeout
      limits.messageBytes = configuration.messageBytes
      return AppSyncRealtime.ClientMachine(limits: limits)
    }
  }
}
