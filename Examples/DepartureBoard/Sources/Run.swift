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
    let replay = Replay(client: try client(options.url), steps: steps)
    let writing = Task { try await write(replay, pace: Pace(speed: options.speed)) { _ in } }
    let stopping = Task { for await _ in Interrupts.sequence() { writing.cancel() } }
    defer { stopping.cancel() }
    try await finish(writing)
    say("Replayed \(steps.count) steps.")
  }

  /// Watches until interrupted, or enough events were seen.
  static func board(_ options: Options) async throws {
    try await watch(options, client: try client(options.url), beside: { _ in })
  }

  /// All in one process.
  static func all(_ options: Options) async throws {
    let files = DataFiles(folder: options.files)
    let steps = try files.steps(days: options.days, only: options.only)
    var server = try await server(options)
    var url = "ws://127.0.0.1:\(server.port)/graphql"
    if options.data == Options.ownData,
      try await Replay(client: try client(url), steps: steps).progress() == steps.count
    {
      say("The week has been replayed; it begins again.")
      await server.stop()
      try FileManager.default.removeItem(atPath: options.data)
      server = try await Self.server(options)
      url = "ws://127.0.0.1:\(server.port)/graphql"
    }
    let client = try client(url)
    try await watch(options, client: client) { screen in
      try await write(Replay(client: client, steps: steps), pace: Pace(speed: options.speed)) { done in
        await screen.show(replayed: done, of: steps.count)
      }
    }
    await server.stop()
  }

  private static func server(_ options: Options) async throws -> GraphQLServer {
    let files = DataFiles(folder: options.files)
    var configuration = ServerConfiguration(schema: try files.text("schema.graphql"))
    configuration.data = .folder(options.data)
    configuration.access = .development
    configuration.port = options.port
    let server = try GraphQLServer(configuration)
    // Before anybody is served: the tables are there when the first query comes.
    try await TableLoader.load(files, into: server)
    try server.start()
    return server
  }

  /// A client that never gives up.
  private static func client(_ text: String) throws -> GraphQLClient {
    guard let url = URL(string: text) else { throw Options.Wrong(description: "'\(text)' is no URL.") }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = nil
    configuration.reconnect.firstDelay = .milliseconds(100)
    configuration.reconnect.longestDelay = .seconds(2)
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
    _ options: Options, client: GraphQLClient, beside work: @escaping @Sendable (Screen) async throws -> Void
  ) async throws {
    let screen = Screen(airport: options.airport)
    let viewer = Viewer(client: client, airport: options.airport, screen: screen)
    let history = try options.history.map { try History($0) }
    let stream = viewer.subscribe(from: history?.last)
    let saysReady = history != nil
    let telling = Task { await viewer.tell(stream.states) }
    let stopping = Task { for await _ in Interrupts.sequence() { stream.cancel() } }
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
        try await work(screen)
      } catch  where !(error is CancellationError) {
        stream.cancel()
        throw error
      }
    }
    await screen.open()
    let result: Result<Viewer.Seen, any Error>
    do {
      result = .success(try await viewer.follow(stream, history: history, limit: options.events))
    } catch {
      result = .failure(error)
    }
    for task in [telling, stopping, drawing] { task.cancel() }
    working.cancel()
    await screen.close()
    try await finish(working)
    let seen = try result.get()
    say("\(seen.events) events, \(seen.gaps) gaps, last cursor \(seen.last?.description ?? "none").")
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
