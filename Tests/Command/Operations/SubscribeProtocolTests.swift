import Foundation
import MartletCommandLine
import MartletJSON
import MartletServer
import Testing

@testable import MartletCommand

/// `martlet subscribe --protocol`, as a process against a server.
@Suite(.timeLimit(.minutes(2))) struct SubscribeProtocolTests {
  static let protocols = SubscriptionRoute.all.map(\.name)

  private static func server() throws -> GraphQLServer {
    var configuration = ServerConfiguration(
      schema: """
        scalar Upload
        type Query { hello: String }
        type Mutation { keep(picture: Upload!): String }
        type Subscription { tick(upTo: Int!, failAt: Int): Int }
        """)
    configuration.access = .development
    configuration.log = .silent
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "hello") { _ in "world" }
      resolvers.resolve("Mutation", "keep") { request in
        let file = try Upload(request.arguments["picture"])
        return "\(file.filename) \(String(decoding: file.bytes, as: UTF8.self))"
      }
      resolvers.stream("Subscription", "tick") { request in
        let last = request.arguments["upTo"]?.int ?? 0
        let failing = request.arguments["failAt"]?.int
        return AsyncThrowingStream<JSONValue, any Error> { continuation in
          for number in 1...max(1, last) {
            if number == failing { return continuation.finish(throwing: ResolverError("it failed at \(number)")) }
            continuation.yield(.int(number))
          }
          continuation.finish()
        }
      }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    return server
  }

  private static func with(_ body: (String) async throws -> Void) async throws {
    let server = try server()
    do { try await body("127.0.0.1:\(server.port)") } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test(arguments: protocols)
  func `events are lines and the server's completion ends the command`(spoken: String) async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash(
        "martlet subscribe \(server) 'subscription { tick(upTo: 3) }' --protocol \(spoken)")
      let events = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0))["data"] }
      #expect(events == [["tick": 1], ["tick": 2], ["tick": 3]])
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test(arguments: protocols)
  func `what the server refuses is said, and so is where`(spoken: String) async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash("martlet subscribe \(server) 'subscription { nothing }' --protocol \(spoken)")
      #expect(run.status == ExitCode.failure.rawValue, "\(run.errors)")
      #expect(run.errors.hasSuffix("Cannot query field 'nothing' on type 'Subscription'. (1:16)\n"), "\(run.errors)")
      #expect(run.output.isEmpty)
      // An open connection is not yet a subscription.
      #expect(!run.errors.contains("Subscribed"), "\(run.errors)")
    }
  }

  @Test(arguments: protocols)
  func `a server that is not a GraphQL server is named in a sentence, without names of the code`(
    spoken: String
  ) async throws {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
    configuration.access = .development
    configuration.log = .silent
    // A page for every request, as a server of pages answers.
    configuration.endpoints.append(
      try ServerEndpoint("/{path...}", methods: ["GET", "POST", "PUT"], access: .open) { _, response in
        await response.send(200, headers: [("Content-Type", "text/html")], body: Array("<p>Hello".utf8))
      })
    let server = try GraphQLServer(configuration)
    try server.start()
    for command in [
      "subscribe 127.0.0.1:\(server.port)/site 'subscription { a }' --attempts 0 --protocol \(spoken)",
      "query 127.0.0.1:\(server.port)/site '{ a }'", "mutate 127.0.0.1:\(server.port)/site 'mutation { a }'",
    ] {
      let run = try await ShellRun.bash("martlet \(command)")
      #expect(run.status == ExitCode.unavailable.rawValue, "\(command): \(run.errors)")
      let first = run.errors.split(separator: "\n").first ?? ""
      let sentence =
        "No GraphQL is served at http://127.0.0.1:\(server.port)/site: "
        + "the answer is not a GraphQL response (HTTP status 200)."
      #expect(first == sentence, "\(command): \(run.errors)")
    }
    await server.stop()
  }

  @Test(arguments: protocols, [502, 503])
  func `a proxy without its server is one sentence, whatever the protocol`(spoken: String, status: Int) async throws {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
    configuration.access = .development
    configuration.log = .silent
    configuration.endpoints.append(
      try ServerEndpoint("/site{path...}", methods: ["GET", "POST", "PUT"], access: .open) { _, response in
        await response.send(status, headers: [("Content-Type", "text/html")], body: Array("<p>Bad Gateway".utf8))
      })
    let server = try GraphQLServer(configuration)
    try server.start()
    for command in [
      "subscribe 127.0.0.1:\(server.port)/sites/a 'subscription { a }' --attempts 0 --protocol \(spoken)",
      "query 127.0.0.1:\(server.port)/sites/a '{ a }'",
    ] {
      let run = try await ShellRun.bash("timeout 20 martlet \(command)")
      #expect(run.status == ExitCode.unavailable.rawValue, "\(command): \(run.errors)")
      let sentence = "The server at 127.0.0.1:\(server.port) is not ready, or a proxy has no connection to it"
      #expect(run.errors.hasPrefix("\(sentence) (HTTP status \(status))."), "\(command): \(run.errors)")
    }
    let mutation = try await ShellRun.bash("martlet mutate 127.0.0.1:\(server.port)/sites/a 'mutation { a }'")
    #expect(mutation.status == ExitCode.unavailable.rawValue)
    #expect(mutation.errors.contains(status == 502 ? "The mutation may have been executed" : "is not ready"))
    await server.stop()
  }

  @Test(arguments: ["list", "devices", "show a", "retry a", "discard a", "cancel a"])
  func `a server without channels has one sentence and exit code for every action`(action: String) async throws {
    try await Self.with { server in
      let words = action.split(separator: " ")
      let run = try await ShellRun.bash("martlet channels \(words[0]) \(server) \(words.dropFirst().joined())")
      #expect(run.status == ExitCode.unavailable.rawValue, "\(run.errors)")
      #expect(
        run.errors == "The server at \(server) serves no channels: it was started without --channels, "
          + "or is not a Martlet server.\n", "\(run.errors)")
    }
  }

  @Test(arguments: protocols)
  func `a source that fails ends the command with its error`(spoken: String) async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash(
        "martlet subscribe \(server) 'subscription { tick(upTo: 3, failAt: 2) }' --protocol \(spoken)")
      #expect(run.status == ExitCode.failure.rawValue)
      #expect((run.errors + run.output).contains("failed at 2"), "\(run.errors)")
    }
  }

  @Test(arguments: protocols)
  func `a server that does not speak it is recognised, with what else to try`(spoken: String) async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash(
        "martlet subscribe \(server)/healthz 'subscription { tick(upTo: 1) }' --protocol \(spoken)"
          + " --attempts 0")
      #expect(run.status == ExitCode.unavailable.rawValue)
      #expect(run.errors.contains("may not speak \(spoken) at this URL; --protocol has "), "\(run.errors)")
    }
  }

  @Test(arguments: protocols)
  func `the reason for a missing connection is printed while it is retried`(spoken: String) async throws {
    let port = try await TutorialTests.freePort()
    let run = try await ShellRun.bash(
      "martlet subscribe 127.0.0.1:\(port) 'subscription { tick(upTo: 1) }' --attempts 1 --protocol \(spoken)")
    #expect(run.status == ExitCode.unavailable.rawValue)
    #expect(run.errors == "No server answers at 127.0.0.1:\(port): Connection refused.\n")
  }

  @Test(arguments: protocols)
  func `a server that is not there is said at once and waited for`(spoken: String) async throws {
    let port = try await TutorialTests.freePort()
    let run = try await ServedScript.run(
      """
      martlet subscribe 127.0.0.1:\(port) 'subscription { onCreateNote { id } }' --protocol \(spoken) --limit 1 2> said & pid=$!
      wait_for grep -q '^No server answers at 127.0.0.1:\(port): Connection refused.$' said
      martlet serve s.graphql --memory --dev --port \(port) > out 2> err & server=$!
      trap 'kill -9 $pid $server 2>/dev/null' EXIT
      wait_for grep -qE '^(Subscribed|The subscription was sent)' said
      while kill -0 $pid 2> kill; do
        martlet mutate 127.0.0.1:\(port) 'mutation { createNote(input: {text: "a"}) { id } }' > answer
      done
      grep -c 'Connection refused' said
      """)
    #expect(run.output.hasSuffix("1\n"), "\(run.errors) \(run.output)")
  }

  @Test func `an unknown protocol is refused with the nearest name`() async throws {
    let run = try await ShellRun.bash("martlet subscribe localhost:1 'subscription { a }' --protocol graphql-vs")
    #expect(run.status == ExitCode.usage.rawValue)
    #expect(run.errors.contains("--protocol must be one of graphql-transport-ws, graphql-ws, appsync,"))
    #expect(run.errors.contains("Did you mean graphql-ws?"))
  }

  @Test(arguments: ["graphql-ws", "appsync"])
  func `a cursor is refused where there are none`(spoken: String) async throws {
    let run = try await ShellRun.bash(
      "martlet subscribe localhost:1 'subscription { a }' --protocol \(spoken) --from 9f-1")
    #expect(run.status == ExitCode.usage.rawValue)
    #expect(run.errors.contains("\(spoken) has no cursors"))
  }

  @Test(arguments: SubscriptionRoute.all.filter(\.resumes).map(\.name))
  func `events from the oldest on are printed, with the ends of their transactions`(spoken: String) async throws {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
    configuration.access = .development
    configuration.data = .memory
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    for texts in [["a"], ["b", "c", "d"]] as [[JSONValue]] {
      try await server.transaction { for text in texts { _ = try $0.create("Note", ["text": text]) } }
    }
    let run = try await ShellRun.bash(
      "martlet subscribe 127.0.0.1:\(server.port) 'subscription { onCreateNote { text } }' --from oldest --limit 4"
        + " --protocol \(spoken)")
    let lines = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.map { $0["data"]?["onCreateNote"]?["text"] } == ["a", "b", "c", "d"], "\(run.errors)")
    // The mark of each event's transaction.
    #expect(lines.map { $0["endsTransaction"] } == [nil, false, false, nil], "\(run.output)")
    await server.stop()
  }

  @Test func `a file goes along with a mutation`() async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash(
        """
        cd "$(mktemp -d)" && printf pixels > cat.png
        martlet mutate \(server) 'mutation ($p: Upload!) { keep(picture: $p) }' --file p=cat.png --compact
        """)
      #expect(run.output == #"{"data":{"keep":"cat.png pixels"}}"# + "\n", "\(run.errors)")
      #expect(run.status == 0)
    }
  }

  @Test func `a document is named by its hash, and sent when it is asked for`() async throws {
    try await Self.with { server in
      let run = try await ShellRun.bash(
        "martlet query \(server) '{ hello }' --persisted --compact && martlet query \(server) '{ hello }' --persisted --compact"
      )
      #expect(
        run.output == #"{"data":{"hello":"world"}}"# + "\n" + #"{"data":{"hello":"world"}}"# + "\n", "\(run.errors)")
    }
  }

  @Test func `a file that cannot be read is named`() async throws {
    let run = try await ShellRun.bash("martlet mutate localhost:1 'mutation { a }' --file p=nowhere.png")
    #expect(run.status == ExitCode.io.rawValue)
    #expect(run.errors.contains("nowhere.png cannot be read"), "\(run.errors)")
  }

  @Test(arguments: ["p", "p=", "=x"])
  func `a file without place or path is refused`(word: String) async throws {
    let run = try await ShellRun.bash("martlet mutate localhost:1 'mutation { a }' --file \(word)")
    #expect(run.status == ExitCode.usage.rawValue)
    #expect(run.errors == "--file must be VARIABLE=PATH, not '\(word)'.\n")
  }
}
