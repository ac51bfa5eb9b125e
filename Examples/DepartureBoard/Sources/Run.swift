import Foundation
import Martlet
import MartletServer

/// The four ways to run the example.
enum Run {
  /// Serves until interrupted.
  static func serve(_ options: Options) async throws {
    let server = try await server(options)
    say("Serving on http://127.0.0.1:\(server.port)/graphql")
    for await _ in Interrupts.sequence() { break }
    await server.stop()
  }

  /// Replays until everything is written, or interrupted.
  static func replay(_ options: Options) async throws {
    let steps = try DataFiles(folder: options.files).steps(days: options.days, only: options.only)
    let replay = Replay(client: try client(options.url, token: options.token), steps: steps)
    let writing = Task { try await write(replay, pace: Pace(speed: options.speed)) { _ in } }
    let stopping = Task { for await _ in Interrupts.sequence() { writing.cancel() } }
    defer { stopping.cancel() }
    try await finish(writing)
    say("Replayed \(steps.count) steps.")
  }

  /// Watches until interrupted, or enough events were seen.
  static func board(_ options: Options) async throws {
    let footer = [options.url] + subscribeLines(options, port: nil)
    try await watch(options, client: try client(options.url, token: options.token), footer: footer, beside: { _, _ in })
  }

  /// All in one process.
  static func all(_ options: Options) async throws {
    let files = DataFiles(folder: options.files)
    let steps = try files.steps(days: options.days, only: options.only)
    var server = try await server(options)
    var url = "ws://127.0.0.1:\(server.port)/graphql"
    if options.data == Options.ownData,
      try await Replay(client: try client(url, token: options.token), steps: steps).progress() == steps.count
    {
      say("The week has been replayed; it begins again.")
      await server.stop()
      try FileManager.default.removeItem(atPath: options.data)
      server = try await Self.server(options)
      url = "ws://127.0.0.1:\(server.port)/graphql"
    }
    let client = try client(url, token: options.token)
    let footer =
      ["http://127.0.0.1:\(server.port)/graphql   kill -9 \(getpid()): nothing will be missing"]
      + subscribeLines(options, port: server.port)
    try await watch(options, client: client, footer: footer) { viewer, screen in
      let replay = Replay(client: client, steps: steps)
      let before = try await replay.progress()
      if before > 0 { try await viewer.fill(around: steps[before - 1].moment) }
      try await write(replay, pace: Pace(speed: options.speed)) { done in
        await screen.show(replayed: done, of: steps.count, at: done > 0 ? steps[done - 1].moment : nil)
      }
    }
    await server.stop()
  }

  /// What follows the same flights in a second terminal: one command in two lines, which 80 columns have room for.
  private static func subscribeLines(_ options: Options, port: Int?) -> [String] {
    let url = port.map { "localhost:\($0)" } ?? options.url
    return [
      "martlet subscribe \(url) \\",
      "  'subscription { departures(origin: \"\(options.airport)\") { id status delay } }'",
    ]
  }

  private static func server(_ options: Options) async throws -> GraphQLServer {
    let files = DataFiles(folder: options.files)
    let server = try GraphQLServer(try configuration(options, files))
    // Before the first client is served: the tables are there when the first query comes.
    try await TableLoader.load(files, into: server)
    try start(server, options)
    return server
  }

  private static func configuration(_ options: Options, _ files: DataFiles) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: try files.text("schema.graphql"))
    configuration.data = .folder(options.data)
    // The tables are loaded before there are callers to wait. On a busy machine a hundred rows can take more than the
    // default of half a second.
    configuration.limits.store.transactionTime = .seconds(30)
    // With an access file the schema's rules hold: all callers may read, staff may write.
    configuration.access =
      try options.access.map {
        .keys(try AccessFile(String(contentsOfFile: $0, encoding: .utf8)))
      } ?? .development
    configuration.port = options.port
    // The board has the terminal to itself.
    configuration.log = options.action == .run ? .silent : .standardError(level: .warning)
    return configuration
  }

  /// Not part of `server`: with the catch of a typed error in an async function, the optimizer of Swift 6.3.1 crashes.
  private static func start(_ server: GraphQLServer, _ options: Options) throws {
    do {
      try server.start()
    } catch {
      guard error.code == .addressInUse else { throw error }
      let other = options.port + 1
      throw Options.Wrong(
        description: "\(error.description). Another port: make run PORT=\(other), or --port 0 for a free one.")
    }
  }

  /// A client that never gives up.
  private static func client(_ text: String, token: String?) throws -> GraphQLClient {
    guard let url = URL(string: text) else { throw Options.Wrong(description: "'\(text)' is not a URL.") }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = nil
    configuration.reconnect.firstDelay = .milliseconds(100)
    configuration.reconnect.longestDelay = .seconds(2)
    if let token { configuration.credentials = { _ in .bearer(token) } }
    return try GraphQLClient(url: url, configuration: configuration)
  }

  private static func write(
    _ replay: Replay, pace: Pace, told: @Sendable (Int) async -> Void
  ) async throws {
    var done = try await replay.progress()
    await told(done)
    var last: Timeline.Step? = done > 0 ? replay.steps[done - 1] : nil
    while done < replay.steps.count {
      let step = replay.steps[done]
      let pause = pace.pause(from: last, to: step)
      if pause > .zero { try await Task.sleep(for: pause) }
      try Task.checkCancellation()
      try await replay.write(step)
      last = step
      done += 1
      await told(done)
    }
  }

  /// Follows the board, with some other work beside it, until interrupted or done.
  private static func watch(
    _ options: Options, client: GraphQLClient, footer: [String],
    beside work: @escaping @Sendable (Viewer, Screen) async throws -> Void
  ) async throws {
    let screen = Screen(airport: options.airport, names: try DataFiles(folder: options.files).names())
    let viewer = Viewer(client: client, airport: options.airport, screen: screen)
    let history = try options.history.map { try History($0) }
    let stream = viewer.subscribe(from: history?.last)
    let saysReady = history != nil
    // Before the first drawing, which would be in the terminal's own screen and have no last lines.
    await screen.open(footer: footer)
    let telling = Task { await viewer.tell(stream.states) }
    let stopping = Task { for await _ in Interrupts.sequence() { stream.cancel() } }
    let resizing = Task { for await _ in Interrupts.sequence([SIGWINCH]) { await screen.draw() } }
    let drawing = Task {
      while !Task.isCancelled {
        await screen.draw()
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    // The board is live before the first write, so that it sees every one.
    let working = Task {
      do {
        try await stream.ready()
        if saysReady { FileHandle.standardError.write(Data("The board is ready.\n".utf8)) }
        try await work(viewer, screen)
      } catch  where !(error is CancellationError) {
        stream.cancel()
        throw error
      }
    }
    let result: Result<Viewer.Seen, any Error>
    do {
      result = .success(try await viewer.follow(stream, history: history, limit: options.events))
    } catch {
      result = .failure(error)
    }
    for task in [telling, stopping, resizing, drawing] { task.cancel() }
    working.cancel()
    await screen.close()
    try await finish(working)
    let seen = try result.get()
    say(
      "\(seen.events) \(seen.events == 1 ? "event" : "events"), \(seen.gaps) \(seen.gaps == 1 ? "gap" : "gaps"), last cursor \(seen.last?.description ?? "none")."
    )
  }

  /// Writes a line at once, also into a pipe.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// Waits for a task that may have been cancelled.
  private static func finish(_ task: Task<Void, any Error>) async throws {
    do {
      try await task.value
    } catch is CancellationError {}
  }
}
