import Foundation
import MartletDatasync

/// One watcher of a gate, as the tree has it.
struct Watcher: Decodable {
  let name: String
}

/// A watcher that arrives: the server says when.
struct Arrival: Encodable {
  let name: String
  let since = DatasyncServerValue.timestamp
}

/// The gates of the tree, below `/gates`: `/gates/A12/<watcher>`.
struct Gates: Sendable {
  private let manager: DatasyncManager

  init(_ application: MartletApplication) {
    manager = application.datasyncService.createManager()
  }

  /// Prints who watches which gate, now and after each change.
  func showBoard() async throws {
    var shown: Board?
    for try await event in try manager.nodeThrows(for: "gates").events(.valueChange) {
      // A gate without watchers does not exist; without any, there are no gates.
      let board = Board(event.value.decoded() ?? [:])
      if board != shown { say("\(board)") }
      shown = board
    }
  }

  /// Watches a gate until `end` returns.
  ///
  /// - Parameter grace: how long the server waits for this program when its connection is lost.
  func watch(_ gate: String, as name: String, grace: Duration, until end: () async -> Void) async throws {
    let place = try manager.nodeThrows(for: "gates/\(gate)").createChild()
    let presence = try place.present(Arrival(name: name), grace: grace)
    try await presence.ready()
    say("\(name) watches \(gate).")
    await end()
    presence.end()
    // The answer comes after the removal.
    _ = try await place.value()
  }
}

/// Prints a line at once, also where nothing is a terminal.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// The watchers of each gate, in the order of the gates.
struct Board: Equatable, CustomStringConvertible {
  private let gates: [(gate: String, names: [String])]

  init(_ watchers: [String: [String: Watcher]]) {
    gates = watchers.map { ($0, $1.values.map(\.name).sorted()) }.sorted { $0.0 < $1.0 }
  }

  var description: String {
    if gates.isEmpty { return "No gate is watched." }
    return gates.map { "\($0.gate): \($0.names.joined(separator: ", "))" }.joined(separator: " | ")
  }

  static func == (left: Board, right: Board) -> Bool { left.description == right.description }
}
