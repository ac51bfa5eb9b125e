import MartletServer

/// Serves a schema whose fields are Swift code, and publishes events of its own into the change log.
@main
enum HandWritten {
  /// The port is the only word, 8090 without one.
  static func main() async throws {
    let station = try WeatherStation(port: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8_090)
    let reports = Task { try await station.reportEverySecond() }
    try await station.server.run()
    reports.cancel()
  }
}

extension WeatherStation {
  func reportEverySecond() async throws {
    while true {
      try await Task.sleep(for: .seconds(1))
      try await report(station: "roof", celsius: Double.random(in: -10...35))
    }
  }
}
