import Foundation

/// A departure board on real flights: a server, a replay of a week in New York, and a live view of one airport.
@main
enum DepartureBoard {
  static let usage = """
    USAGE: DepartureBoard run|serve|replay|board [OPTIONS]

      run     serve, replay and watch in one process
      serve   serve the schema and load airports, airlines and planes
      replay  write the week's steps to a server, in their order; continues where an earlier replay stopped
      board   watch the departures of one airport

      --port N         the server's port (default 8080; 0 takes a free one)
      --url URL        replay and board: the server (default ws://127.0.0.1:8080/graphql)
      --airport CODE   the airport to watch: EWR, JFK or LGA (default JFK)
      --only CODE      replay only the flights of this airport
      --days N         replay only the first N days (default 7)
      --speed N        simulated minutes in a second, or 'unlimited' (default 10)
      --data DIR       the data folder (default .build/departure-board)
      --history FILE   board: append every event to FILE as JSON lines, and continue after the last one there
      --events N       board: end after N events
      --access FILE    run, serve: an access file; all callers may read, staff (a group of the token) may write
      --token TOKEN    run, replay, board: a token that the access file accepts
      --files DIR      the example's folder (default Examples/DepartureBoard)
    """

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      let options = try Options(words)
      switch options.action {
      case .run: try await Run.all(options)
      case .serve: try await Run.serve(options)
      case .replay: try await Run.replay(options)
      case .board: try await Run.board(options)
      case .help: print(usage)
      }
    } catch let error as CocoaError {
      fail("\(error.filePath ?? "A file") cannot be read or written. The example's own files: --files DIR.")
    } catch {
      fail("\(error)")
    }
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
  }
}
