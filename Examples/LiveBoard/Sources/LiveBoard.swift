import Foundation
import Martlet
import MartletTesting

/// A departure, as the subscription names its fields.
struct Departed: Codable, Sendable {
  struct Departure: Codable, Sendable {
    let line: String
    let destination: String
  }
  let departed: Departure
}

/// What the views show, without a server.
enum Preview {
  static let document = "subscription Departed { departed { line destination } }"

  static func client(pause: Duration = .seconds(2)) -> GraphQLClient {
    GraphQLClient(
      networkTransport: PreviewTransport(pause: pause) { _ in
        [("U2", "Ruhleben"), ("U4", "Nollendorfplatz"), ("U7", "Rudow")].map { line, destination in
          ["departed": ["line": .string(line), "destination": .string(destination)]]
        }
      })
  }
}

/// Without a screen: prints what the view shows.
@main enum LiveBoard {
  @MainActor static func main() async {
    #if canImport(SwiftUI)
      if !CommandLine.arguments.contains("--print") { return BoardApplication.main() }
    #endif
    let stream = Preview.client(pause: .zero).subscribe(Preview.document, as: Departed.self)
    var left = 3
    do {
      for try await result in stream where result.data != nil {
        if let departure = result.data?.departed { print("\(departure.line) \(departure.destination)") }
        left -= 1
        if left == 0 { break }
      }
    } catch { print("\(error)") }
  }
}
