internal import MartletGraphQLWire
internal import MartletVocabulary

/// The meters of one loop, one for each protocol that subscriptions are delivered in. Confined to its loop.
final class SessionMeters {
  private let sockets = Dictionary(uniqueKeysWithValues: Dialect.allCases.map { ($0, DeliveryMeter()) })
  private let streams = Dictionary(uniqueKeysWithValues: HTTPStreamMedia.allCases.map { ($0, DeliveryMeter()) })
  let sharedStream = DeliveryMeter()

  func meter(_ dialect: Dialect) -> DeliveryMeter { sockets[dialect] ?? sharedStream }
  func meter(_ media: HTTPStreamMedia) -> DeliveryMeter { streams[media] ?? sharedStream }

  /// The delays by the protocol's name in figures.
  var delays: [String: Histogram] {
    var delays = ["sse-single": sharedStream.delays]
    for (dialect, meter) in sockets { delays[dialect.rawValue] = meter.delays }
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
