import Foundation

/// Finds changes of files by their attributes, so that a file that is replaced counts as one that is
/// written, and so does a link that leads to another file.
struct WatchedFiles {
  /// How often the files are looked at: a change takes effect within a second, and looking costs some microseconds.
  static let interval = Duration.milliseconds(500)

  /// What differs between two states of a file.
  private struct Mark: Equatable {
    var number: Int?
    var size: Int?
    var changed: Date?
  }

  private let paths: [String]
  private var last: [Mark?]
  private var reported: [Mark?]

  init(_ paths: [String]) {
    self.paths = paths
    last = paths.map(Self.mark)
    reported = last
  }

  /// Whether a file has changed since this was true last. A file that differs from the look before may still be being
  /// written, and is waited for.
  mutating func haveChanged() -> Bool {
    let now = paths.map(Self.mark)
    defer { last = now }
    guard now != reported, now == last else { return false }
    reported = now
    return true
  }

  private static func mark(_ path: String) -> Mark? {
    let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
    return Mark(
      number: attributes[.systemFileNumber] as? Int, size: attributes[.size] as? Int,
      changed: attributes[.modificationDate] as? Date)
  }
}

/// What `martlet serve` waits for.
enum ServeEvent: Sendable {
  case stop
  case reload

  /// Signals of the process, and with `files` also changes of those.
  static func sequence(_ signals: AsyncStream<Int32>, watching files: WatchedFiles?) -> AsyncStream<ServeEvent> {
    AsyncStream { events in
      let signalled = Task {
        for await signal in signals { events.yield(signal == SIGHUP ? .reload : .stop) }
      }
      let watching = files.map { files in Task { await watch(files, events) } }
      events.onTermination = { _ in
        signalled.cancel()
        watching?.cancel()
      }
    }
  }

  private static func watch(_ files: WatchedFiles, _ events: AsyncStream<ServeEvent>.Continuation) async {
    var watched = files
    while (try? await Task.sleep(for: WatchedFiles.interval)) != nil {
      if watched.haveChanged() { events.yield(.reload) }
    }
  }
}
