import MartletDatasync

/// Who looks at which gate of an airport.
struct GateWatch {
  struct Watcher: Codable {
    var name: String
  }

  let manager: DatasyncManager

  init(_ application: MartletApplication) {
    manager = application.datasyncService.createManager()
  }

  /// Shows this client at a gate until what is returned goes.
  func enter(_ gate: String, as name: String) throws -> DatasyncPresence {
    try manager.nodeThrows(for: "gates/\(gate)/watchers").createChild().present(Watcher(name: name))
  }

  /// Calls `changed` with the names at a gate whenever they change.
  func follow(_ gate: String, changed: ([String]) -> Void) async throws {
    for try await event in try manager.nodeThrows(for: "gates/\(gate)/watchers").events(.valueChange) {
      changed(event.value.decoded(as: [Watcher].self)?.map(\.name) ?? [])
    }
  }
}
