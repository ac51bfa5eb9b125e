import Foundation
import MartletCommandLine

/// The process of `martlet-lab`: what measures Martlet and tries it against other implementations. Benchmarks and
/// conformance suites run it; users of Martlet do not need it.
@main
enum LabMain {
  static let name = "martlet-lab"

  static let dispatcher = Dispatcher(
    name, version: "\(name) 0.1.0", commands: [BenchCommand.self, EchoCommand.self, ShareCommand.self]
  ) { overview }

  static var overview: String {
    let commands = CommandSpecification.aligned(dispatcher.specifications.map { ($0.name, $0.summary) })
    return (["USAGE: \(name) SUBCOMMAND [OPERANDS] [OPTIONS]", "", "SUBCOMMANDS:"] + commands).joined(separator: "\n")
  }

  static func main() async {
    StandardStreams.prepare()
    exit(await dispatcher.run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }
}
