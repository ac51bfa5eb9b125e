import MartletDatasync

/// Who is in a room, and when a lost guest was seen last.
struct RoomPresence {
  struct Guest: Codable, Sendable {
    var name: String
  }

  private let room: DatasyncNode

  init(_ application: MartletApplication, room: String) throws {
    self.room = try application.datasyncService.createManager().nodeThrows(for: "rooms/\(room)")
  }

  /// Shows a guest for as long as the result is kept and the client is connected, and for ten seconds after its
  /// connection was lost.
  func enter(as name: String) async throws -> DatasyncPresence {
    // Made by the server when the connection ends; not now.
    try (room / "seen/\(name)")?.set(DatasyncServerValue.timestamp, at: .everyDisconnection)
    guard let places = room / "guests" else { throw CancellationError() }
    let presence = try places.createChild().present(Guest(name: name), grace: .seconds(10))
    try await presence.ready()
    return presence
  }

  /// Calls `changed` with the guests whenever they change.
  func follow(_ changed: ([String]) -> Void) async throws {
    guard let places = room / "guests" else { return }
    for try await guests in try places.collection(of: Guest.self) { changed(guests.items.map(\.name)) }
  }
}
