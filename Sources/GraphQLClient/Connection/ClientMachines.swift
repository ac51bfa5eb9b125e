internal import MartletGraphQLClientWire

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
      return GraphQLWS.ClientMachine(
        limits: older(configuration, silence: configuration.keepAliveTimeout))
    case .appSync:
      return AppSyncRealtime.ClientMachine(limits: older(configuration, silence: AppSyncRealtime.longestSilence))
    }
  }

  private static func older(_ configuration: ConnectionConfiguration, silence: Duration) -> StartStopClientLimits {
    var limits = StartStopClientLimits(keepAliveTimeout: silence)
    limits.acknowledgementTimeout = configuration.acknowledgementTimeout
    limits.messageBytes = configuration.messageBytes
    return limits
  }
}
