import Foundation
import Martlet
import MartletDataStore
import Testing

@testable import SeedTour

/// Every stop shows exactly what there is to see, line by line, against a `martlet serve` of its own.
@Suite(.timeLimit(.minutes(1))) struct TourTests {
  @Test(arguments: Sights.all.indices)
  func `a stop shows what there is to see, in its order, and nothing else`(index: Int) async throws {
    let (stop, lines) = Sights.all[index]
    let server = try await ServeProcess.open()
    let told = Transcript()
    let visit = Visit(server: server, told: told)
    // What other tests of this process configure is not seen here, and they do not see what is configured here.
    try await Martlet.$dataStoreHolder.withValue(DataStoreHolder()) {
      if stop == Configuring.self {
        try await Martlet.$holder.withValue(ClientHolder()) { try await Tour.visit(stop, visit) }
      } else {
        try await Martlet.withClient(try GraphQLClient(url: server.url)) { try await Tour.visit(stop, visit) }
      }
    }
    #expect(told.lines == lines.split(separator: "\n").map(String.init))
    // The stop's last `complete` may still be on its way to the server.
    try await server.has(0)
    #expect(try await server.metric("protocol_errors_total") == 0)
    await server.stop()
  }

  @Test func `the program walks all stops and ends well`() async throws {
    #expect(Sights.all.map { "\($0.stop)" } == Tour.stops.map { "\($0)" })
    let program = try Command.url().deletingLastPathComponent().appendingPathComponent("SeedTour")
    let output = try await Command.run([], program: program)
    let expected = Sights.all.enumerated().map { number, sight in
      let lines = sight.lines.split(separator: "\n").map { "   \($0)\n" }
      return "\(number + 1). \(sight.stop.title)\n" + lines.joined()
    }
    #expect(output == expected.joined(separator: "\n"))
  }
}
