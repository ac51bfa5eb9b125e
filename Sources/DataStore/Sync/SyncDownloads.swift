internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine

/// What an engine's driver remembers of the server's answers.
struct SyncDownloads {
  /// The feed that is followed.
  var follower: FeedFollower?
  /// The changes of a transaction of which more is to come.
  var partial: [RemoteChange] = []
  /// The newest position that the server has named.
  var newestPosition: Int64 = 0
  /// Models that the server has refused to sync.
  var refused: Set<Int> = []
  /// How often in a row the server's rules have refused the feed.
  var refusals = 0

  mutating func disconnect() {
    follower?.cancel()
    follower = nil
    partial = []
  }
}

/// The feed and the pages. On the store's thread.
extension SyncShell {
  // MARK: The feed

  func subscribe(_ generation: Int, _ writer: ClientWriter) throws {
    downloads.disconnect()
    let cursor = try writer.value("cursor").flatMap { $0.isEmpty ? nil : $0 }
    let view = try writer.value("view").flatMap { $0.isEmpty ? nil : $0 }
    let epoch = epoch
    downloads.follower = server?.follow(from: cursor, view: view) { [weak self] news in
      await self?.answered(epoch) { shell, writer in
        guard generation == shell.engine?.generation else { return nil }
        do {
          return try shell.event(of: news, generation, writer)
        } catch {
          let failure = SyncFailure.refused(code: "STORE", message: "\(StoreRoom.error(error))")
          return .disconnected(generation: generation, failure)
        }
      }
    }
  }

  /// What a report of the feed is to the engine.
  private func event(of news: FeedNews, _ generation: Int, _ writer: ClientWriter) throws -> SyncEvent? {
    switch news {
    case .ready(let resumed, let cursor, let view):
      downloads.refusals = 0
      try change(writer, .live) { try $0.set("view", view ?? "") }
      return .subscribed(generation: generation, resumed: resumed, cursor: cursor)
    case .changes(let changes, let cursor, let position):
      downloads.newestPosition = max(downloads.newestPosition, position)
      downloads.partial += changes
      // A transaction is applied whole. Servers without cursors have none.
      if cursor == nil, position > 0 { return nil }
      defer { downloads.partial = [] }
      return .feed(generation: generation, downloads.partial, cursor: cursor, position: position)
    case .gap(let reason):
      try forgetProgress(writer, removesRows: false)
      return .feedReset(generation: generation, reason: reason)
    case .unreachable(let reason):
      report.fail(DataStoreError(.sync, "the server cannot be reached: \(reason)"))
      publishStatus(writer)
      return nil
    case .interrupted:
      report.announce(.networkStatus(active: false))
      publishStatus(writer)
      return nil
    case .restored:
      report.announce(.networkStatus(active: true))
      return .reachable
    case .forbidden:
      downloads.refusals += 1
      // With fresh credentials as well: the caller may see none of the records.
      if downloads.refusals > 1 { try forgetProgress(writer, removesRows: true) }
      return .disconnected(generation: generation, .unauthorized)
    case .ended(let failure): return .disconnected(generation: generation, failure)
    }
  }

  /// Every model is owed a full sync from now on, also after a restart.
  private func forgetProgress(_ writer: ClientWriter, removesRows: Bool) throws {
    try change(writer, .live) { [mappings] transaction in
      try transaction.set("cursor", "")
      for mapping in mappings {
        try transaction.set(Self.progressName(mapping.shape), "")
        guard removesRows else { continue }
        try transaction.beginFullSync(model: mapping.shape.model)
        try transaction.sweep(model: mapping.shape.model, before: .max)
      }
    }
  }

  // MARK: Pages

  func query(_ generation: Int, _ model: Int, _ kind: SyncKind, _ token: String?) {
    guard let server else { return }
    let epoch = epoch
    spawner.spawn { [weak self] in
      let result: Result<SyncPage, SyncFailure>
      do throws(SyncFailure) {
        result = .success(try await server.page(model: model, kind, token: token))
      } catch {
        result = .failure(error)
      }
      self?.answer(epoch) { shell, writer in shell.event(of: result, generation, model, writer) }
    }
  }

  private func event(
    of result: Result<SyncPage, SyncFailure>, _ generation: Int, _ model: Int, _ writer: ClientWriter
  ) -> SyncEvent {
    switch result {
    case .success(let page):
      downloads.refused.remove(model)
      if page.position < .max { downloads.newestPosition = max(downloads.newestPosition, page.position) }
      return .page(generation: generation, model: model, page)
    // The caller may not sync the model, with fresh credentials as well: it has no records of it.
    case .failure(.unauthorized) where downloads.refused.contains(model):
      let page = SyncPage(changes: [], startedAt: 0, position: .max, isFull: true)
      return .page(generation: generation, model: model, page)
    // The server has forgotten what the page's token or the delta stands for.
    case .failure(.refused("INVALID_TOKEN", _)):
      try? forgetProgress(writer, removesRows: false)
      return .feedReset(generation: generation, reason: "token")
    case .failure(let failure):
      if failure == .unauthorized { downloads.refused.insert(model) }
      return .queryFailed(generation: generation, model: model, failure)
    }
  }
}
