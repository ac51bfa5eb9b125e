import MartletDatasync

/// Notes that are read and written without a network, and sent when it is back.
struct OfflineNotes {
  private let service: DatasyncService
  private let notes: DatasyncNode

  /// - Parameter file: where values and unsent writes outlive the application.
  init(url: String, file: String) throws {
    var configuration = DatasyncConfiguration(url: url)
    configuration.cacheMode = .automatic(file: file)
    configuration.cacheBytes = 5_000_000
    service = MartletApplication(configuration: configuration).datasyncService
    let manager = service.createManager(defaultCompletedSubscriptionPolicy: .keepUpdatingData)
    notes = try manager.nodeThrows(for: "notes")
    // The newest are up to date before a screen asks for them.
    try notes.keepSynced(window: .last(50))
  }

  /// Shown at once, sent when the server can be reached, and made once.
  func add(_ text: String) throws { try notes.push(["text": text]) }

  /// The newest notes, and how sure they are.
  func newest() async throws -> (texts: [String], isFromServer: Bool) {
    let reading = try await notes.value(window: .last(50))
    let texts = reading.value.asArray()?.compactMap { $0["text"].asString } ?? []
    return (texts, reading.source == .server)
  }

  /// What has not been sent.
  func waiting() async throws -> Int { try await service.queuedWrites().count }

  /// The network is back: does not wait for the next attempt.
  func networkIsBack() { service.reconnect() }

  /// Gives up what has not been sent; listeners see the server's values again.
  func discard() { service.purgeQueue() }
}
