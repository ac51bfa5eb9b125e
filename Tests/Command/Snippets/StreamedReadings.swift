import MartletJSON
import MartletServer

/// The Swift of the guide to own schemas that shows a list from a sequence.
enum StreamedReadings {
  static let schema = "type Query { readings: [Reading!] } type Reading { station: String celsius: Float }"

  static func attach(to resolvers: inout Resolvers) {
    resolvers.list("Query", "readings") { _ in
      AsyncStream { continuation in
        continuation.yield(["station": "roof", "celsius": 21.5] as JSONValue)
        continuation.finish()
      }
    }
  }
}
