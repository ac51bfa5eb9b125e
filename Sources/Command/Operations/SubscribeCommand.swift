import Foundation
import Martlet
import MartletCommandLine
import MartletServer

/// `martlet subscribe URL DOCUMENT`.
enum SubscribeCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "subscribe", summary: "Print the events of a subscription as JSON lines.",
    operands: OperationInput.operands,
    options: OperationInput.options + [
      .init(name: "pretty", value: nil, help: "indent the events instead of one line each"),
      .init(
        name: "from", value: "WHERE", help: "begin with the \"oldest\" event, or after the CURSOR of an earlier one"),
      .init(name: "limit", value: "N", help: "end after N events"),
      .init(name: "attempts", value: "N", help: "give up after N failed connections in a row (default: never)"),
      SubscriptionRoute.option,
    ],
    examples: [
      ("martlet subscribe localhost:8080 'subscription { onCreateTodo { id text } }'", "prints every new record"),
      (
        "martlet subscribe localhost:8080 @board.graphql --from 9f03a1-1042",
        "prints what has happened since, then what happens"
      ),
      (
        "martlet subscribe https://api.example/graphql @late.graphql --protocol sse",
        "subscribes to another server by server-sent events"
      ),
      (
        "martlet subscribe https://api.example/graphql @late.graphql --protocol appsync --header x-api-key:$KEY",
        "shows AppSync a key"
      ),
    ],
    discussion:
      "An event is one line: its cursor, then the response. A lost connection is made again and the events continue "
      + "where they stopped; a hole that cannot be filled is a line of its own: {\"gap\":{…}}. The state of the "
      + "connection is written to standard error: \"Subscribed.\" once the server has confirmed it or sent an event. "
      + "A server that is not there is waited for; one that does not speak TLS "
      + "as the URL says, or has a certificate that is not accepted, ends the command. Other servers, graphql-ws and appsync have no cursors: there every "
      + "lost connection leaves a gap. Header fields go with the handshake or request, into the payload of "
      + "connection_init, and by appsync into the authorization.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    let route = SubscriptionRoute(arguments)
    let input = try OperationInput(arguments, for: .subscription)
    let limit = try arguments.integer("limit", in: 1...Int.max)
    let start = try start(arguments, route)
    let attempts = try arguments.integer("attempts", in: 0...Int.max)
    let remote = try Remote(
      url: input.url, headers: input.headers, attempts: attempts, subscribingBy: route,
      trusting: try ServerTrust(arguments))
    try await ServerWait.wait(for: input.url, arguments)
    let attemptsMade = remote.client.connectionEvents
    let stream = remote.client.subscribe(
      input.document, variables: input.variables, operationName: input.operationName, as: JSONValue.self,
      from: start)
    let progress = SubscriptionReport(stream)
    let states = stream.states
    let watching = Task { await progress.follow(states) }
    let report = ConnectionReport(remote, stream)
    // A single attempt that fails is the command's own end, which says why.
    let dialling = Task { if attempts != 0 { await report.follow(attemptsMade) } }
    let stopping = Task { await stop(stream, at: Signals.sequence([SIGINT, SIGTERM])) }
    defer {
      watching.cancel()
      dialling.cancel()
      stopping.cancel()
    }
    do {
      let code = try await print(stream, limit: limit, pretty: arguments.has("pretty"), telling: progress)
      if let verdict = report.verdict { throw verdict }
      return code
    } catch let verdict as CommandFailure {
      throw verdict
    } catch {
      let failure = await remote.explain(error, of: route)
      guard report.hasSaid(failure.message) else { throw failure }
      return failure.code
    }
  }

  private static func start(
    _ arguments: ParsedArguments, _ route: SubscriptionRoute
  ) throws(UsageError) -> SubscriptionStart {
    guard let text = arguments.value("from") else { return .now }
    guard let start = text == "oldest" ? .oldest : Cursor(text).map({ SubscriptionStart.after($0) }) else {
      throw UsageError("'\(text)' is neither \"oldest\" nor a cursor, such as 9f03a1-1042.")
    }
    guard route.resumes else {
      throw UsageError("--from needs another --protocol: \(route.name) has no cursors.")
    }
    return start
  }

  private static func print(
    _ stream: SubscriptionStream<GraphQLResponse<JSONValue>>, limit: Int?, pretty: Bool,
    telling progress: SubscriptionReport
  ) async throws -> ExitCode {
    var last: Cursor?
    var count = 0
    var hasErrors = false
    do {
      for try await response in stream {
        if isRefusal(response) {
          Console.error(Remote.lines(response.errors.map(\.json)))
          hasErrors = true
          continue
        }
        progress.heard()
        let line = Self.line(response)
        Console.out(pretty ? ReadableJSON.pretty(.object(line)) : JSONValue.object(line).description)
        if !response.errors.isEmpty { hasErrors = true }
        last = response.cursor ?? last
        if response.gap == nil { count += 1 }
        if count == limit { break }
      }
    } catch {
      if let last { Console.error("The last event was \(last); --from \(last) continues after it.") }
      throw error
    }
    if let last {
      Console.error("Ended after \(Count.of(count, "event")); --from \(last) continues after the last.")
    }
    return hasErrors ? .failure : .success
  }

  /// Whether it is the server's answer to the request, which protocols over HTTP send as the only event.
  private static func isRefusal(_ response: GraphQLResponse<JSONValue>) -> Bool {
    response.data == nil && response.gap == nil && response.cursor == nil && !response.errors.isEmpty
      && response.errors.allSatisfy(\.path.isEmpty)
  }

  static func line(_ response: GraphQLResponse<JSONValue>) -> JSONObject {
    if let gap = response.gap {
      return EventLine.gap(
        reason: gap.reason.rawValue, from: gap.from?.description, to: gap.to?.description, dropped: gap.dropped)
    }
    return EventLine.event(
      .object(Remote.object(response)), cursor: response.cursor?.description,
      endsTransaction: response.endsTransaction)
  }

  private static func stop(
    _ stream: SubscriptionStream<GraphQLResponse<JSONValue>>, at signals: AsyncStream<Int32>
  ) async {
    for await _ in signals {
      stream.cancel()
      return
    }
  }
}
