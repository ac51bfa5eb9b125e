internal import MartletGraphQLWire
internal import MartletVocabulary

/// The meters of one loop, one for each protocol that subscriptions are delivered in. Confined to its loop.
final class SessionMeters {
  private let sockets = Dictionary(uniqueKeysWithValues: SubscriptionDialect.allCases.map { ($0, DeliveryMeter()) })
  private let streams = Dictionary(uniqueKeysWithValues: HTTPStreamMedia.allCases.map { ($0, DeliveryMeter()) })
  let sharedStream = DeliveryMeter()

  func meter(_ dialect: SubscriptionDialect) -> DeliveryMeter { sockets[dialect] ?? sharedStream }
  func meter(_ media: HTTPStreamMedia) -> DeliveryMeter { streams[media] ?? sharedStream }

  /// The delays by the protocol's name in figures.
  var delays: [String: Histogram] {
    var delays = ["sse-single": sharedStream.delays]
    for (dialect, meter) in sockets {
      let name =
        switch dialect {
        case .transportWS: "graphql-transport-ws"
        case .legacy: "graphql-ws"
        case .appSync: "appsync"
        }
      delays[name] = meter.delays
    }
    for (media, meter) in streams {
      let name =
        switch media {
        case .multipart: "multipart"
        case .eventStream: "sse"
        }
      delays[name] = meter.delays
    }
    return delays
  }
}
