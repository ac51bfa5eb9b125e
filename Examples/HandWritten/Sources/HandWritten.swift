import Foundation
import MartletServer

/// Serves a schema whose fields are Swift code, and publishes events of its own into the change log.
@main
enum HandWritten {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  struct Usage: Error, CustomStringConvertible {
    let description = "HandWritten [PORT] [--access FILE]"
  }

  private static func run(_ given: [String]) async throws {
    var words = given
    var access = ServerConfiguration.Access.development
    // Without an access file the server is open to this machine.
    if let option = words.firstIndex(of: "--access") {
      guard words.indices.contains(option + 1) else { throw Usage() }
      access = .keys(try AccessFile(String(contentsOfFile: words.remove(at: option + 1), encoding: .utf8)))
      words.remove(at: option)
    }
    guard words.count <= 1, let port = Int(words.first ?? "8090") else { throw Usage() }
    let station = try WeatherStation(port: port, access: access)
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
