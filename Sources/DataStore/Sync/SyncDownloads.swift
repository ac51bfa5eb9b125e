internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine

/// What is remembered of the server's answers while one engine runs.
struct DownloadState {
  /// The feed that is followed.
  var follower: FeedFollower?
  /// The changes of a transaction of which more is to come.
  var partial: [RemoteChange] = []
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

/// The feed and the pages: what is asked of the server, and what its answers are to the engine. On the store's thread.
struct SyncDownloads {
  let shell: SyncShell
  let writer: ClientWriter

  // MARK: The feed

  func subscribe(_ generation: Int) throws {
    shell.downloads.disconnect()
    let cursor = try writer.value("cursor").flatMap { $0.isEmpty ? nil : $0 }
    let view = try writer.value("view").flatMap { $0.isEmpty ? nil : $0 }
    let epoch = shell.epoch
    shell.downloads.follower = shell.server?.follow(from: cursor, view: view) { [weak shell] news in
      await shell?.answered(epoch) { shell, writer in
        guard generation == shell.engine?.generation else { return nil }
        do {
          return try SyncDownloads(shell: shell, writer: writer).event(of: news, generation)
        } catch {
          let failure = SyncFailure.refused(code: "STORE", message: "\(StoreRoom.error(error))")
          return .disconnected(generation: generation, failure)
        }
      }
    }
  }

  /// What a report of the feed is to the engine.
  private func event(of news: FeedNews, _ generation: Int) throws -> SyncEvent? {
    switch news {
    case .ready(let resumed, let cursor, let view):
      shell.downloads.refusals = 0
      try shell.change(writer, .live) { try $0.set("view", view ?? "") }
      return .subscribed(generation: generation, resumed: resumed, cursor: cursor)
    case .changes(let part):
      shell.downloads.partial += part.changes
      // A transaction is applied whole.
      guard part.endsTransaction else { return nil }
      defer { shell.downloads.partial = [] }
      return .feed(
        generation: generation, shell.downloads.partial, cursor: part.cursor, position: part.position)
    case .gap(let reason):
      try forgetProgress(removesRows: false)
      return .feedReset(generation: generation, reason: reason)
    case .unreachable(let reason):
      shell.report.fail(DataStoreError(.sync, "the server cannot be reached: \(reason)"))
      shell.publishStatus(writer)
      return nil
    case .interrupted:
      shell.report.announce(.networkStatus(active: false))
      shell.publishStatus(writer)
      return nil
    case .restored:
      shell.report.announce(.networkStatus(active: true))
      return .reachable
    case .forbidden:
      shell.downloads.refusals += 1
      // With fresh credentials as well: the caller may see none of the records.
      if shell.downloads.refusals > 1 { try forgetProgress(removesRows: true) }
      return .disconnected(generation: generation, .unauthorized)
    case .ended(let failure): return .disconnected(generation: generation, failure)
    }
  }

  /// Every model is owed a full sync from now on, also after a restart.
  private func forgetProgress(removesRows: Bool) throws {
    try shell.change(writer, .live) { [mappings = shell.mappings] transaction in
      try transaction.set("cursor", "")
      for mapping in mappings {
        try transaction.set(ModelProgress.name(mapping.shape), "")
        guard removesRows else { continue }
        try transaction.beginFullSync(model: mapping.shape.model)
        try transaction.sweep(model: mapping.shape.model, before: .max)
      }
    }
  }

  // MARK: Pages

  /// Asks the server for a page, away from the store's thread.
  static func page(
    _ server: any SyncServer, _ model: Int, _ kind: SyncKind, _ token: String?
  ) async -> Result<SyncPage, SyncFailure> {
    do throws(SyncFailure) {
      return .success(try await server.page(model: model, kind, token: token))
    } catch {
      return .failure(error)
    }
  }

  /// What a page is to the engine.
  func event(of result: Result<SyncPage, SyncFailure>, _ generation: Int, _ model: Int) -> SyncEvent {
    switch result {
    case .success(let page):
      shell.downloads.refused.remove(model)
      if let expected = page.expected, generation == shell.engine?.generation {
        shell.report.expect(model: model, expected)
      }
      return .page(generation: generation, model: model, page)
    // The rules allow the caller nothing of the model, with fresh credentials as well: it has no records of it.
    // Credentials that are not accepted say nothing of that: the rows stay.
    case .failure(.refused(SyncFailures.forbidden, _)) where shell.downloads.refused.contains(model):
      let page = SyncPage(changes: [], startedAt: 0, position: .max, isFull: true)
      return .page(generation: generation, model: model, page)
    // The server has forgotten what the page's token or the delta stands for.
    case .failure(.refused("INVALID_TOKEN", _)):
      try? forgetProgress(removesRows: false)
      return .feedReset(generation: generation, reason: "token")
    case .failure(.refused(SyncFailures.forbidden, _)):
      shell.downloads.refused.insert(model)
      return .queryFailed(generation: generation, model: model, .unauthorized)
    case .failure(let failure): return .queryFailed(generation: generation, model: model, failure)
    }
  }
}
