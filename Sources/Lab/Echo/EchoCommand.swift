import MartletCommandLine
import MartletSockets

/// `martlet-lab echo`: both ends of a WebSocket echo, for trying clients and for the Autobahn suite.
enum EchoCommand: Subcommand {
  static let specification = CommandSpecification(
    program: LabMain.name, name: "echo",
    summary: "Send WebSocket messages back, as a server or as the client of a fuzzing server.",
    options: [
      .init(name: "port", value: "N", help: "serve the echo on ws://127.0.0.1:N/echo (0: a free port)"),
      .init(name: "address", value: "IP", help: "the address to serve on (default 127.0.0.1)"),
      .init(name: "connect", value: "URL", help: "walk the cases of an Autobahn fuzzing server at URL"),
      .init(name: "agent", value: "NAME", help: "the name in the fuzzing server's report (default martlet)"),
    ],
    examples: [
      ("martlet-lab echo --port 9001", "serves the echo until it is stopped"),
      ("martlet-lab echo --connect ws://127.0.0.1:9002", "runs all cases and has the report written"),
    ])

  static func run(_ arguments: ParsedArguments) async -> ExitCode {
    do {
      if let url = arguments.value("connect") {
        let count = try await EchoClient.run(url: url, agent: arguments.value("agent") ?? "martlet")
        print("Ran \(count) cases.")
        return .success
      }
      guard let port = try arguments.integer("port", in: 0...65_535) else {
        print("Say --port N to serve or --connect URL to be the client.\nUSAGE: \(specification.usage)")
        return .usage
      }
      let listener = try EchoServer.start(port: port, address: arguments.value("address") ?? "127.0.0.1")
      print("Echo on ws://127.0.0.1:\(listener.port)/echo")
      while true { try await Task.sleep(for: .seconds(3600)) }
    } catch let error as UsageError {
      print(error.description)
      return .usage
    } catch {
      print("\(error)")
      return .failure
    }
  }
}
