import MartletDatasync

/// A chat room, as an app had it on the Realtime Database.
struct FirebaseChat {
  struct Message: Codable, Sendable {
    var by: String
    var text: String
  }

  private let room: DatasyncNode

  init(url: String, room: String, token: @escaping @Sendable () async throws -> String) throws {
    var configuration = DatasyncConfiguration(url: url)
    configuration.connection.credentials = { _ in .bearer(try await token()) }
    let manager = MartletApplication(configuration: configuration).datasyncService.createManager()
    self.room = try manager.nodeThrows(for: "rooms/\(room)/messages")
  }

  /// `ref.childByAutoId().setValue(…)`, and its completion.
  func send(_ message: Message) async throws { try await room.push(message).write.acknowledged() }

  /// `ref.queryLimited(toLast: 50).observe(.childAdded)`.
  func follow(_ show: (Message) -> Void) async throws {
    for try await event in try room.events(.childAddition, window: .last(50)) {
      if let message = event.value.decoded(as: Message.self) { show(message) }
    }
  }

  /// `ref.runTransactionBlock`.
  func like(_ key: String) async throws -> Int? {
    try await (room / "\(key)/likes")?.transaction { .int(Int64(($0.asInt ?? 0) + 1)) }.asInt
  }
}
