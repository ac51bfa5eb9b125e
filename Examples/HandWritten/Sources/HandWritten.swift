import Dispatch
import Foundation
import MartletServer

/// Serves a schema whose fields are Swift code, and publishes events of its own into the change log.
@main
enum HandWritten {
  static func main() async throws {
    let station = try WeatherStation(port: 8_090)
    try station.server.start()
    print("Serving on http://127.0.0.1:\(station.server.port)/graphql until Ctrl-C")
    while true {
      try await Task.sleep(for: .seconds(1))
      try await station.report(station: "roof", celsius: Double.random(in: -10...35))
    }
  }
}
