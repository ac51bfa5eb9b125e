internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// What is remembered of the server's answers while one engine runs.
struct DownloadState {
  /// The feed that is followed.
  var follower: FeedFollower?
  /// The changes of a transaction of which more is to come.
  var partial: [RemoteChange] = []
  /// The changes that the feed's last transaction brought and the store took.
  var taken: Set<RemoteChange> = []
  /// Models that the server has refused to sync.
  var refused: Set<Int> = []
  /// How often in a row the server has refused the caller the feed.
  var refusals = 0
  /// Models of which the server has refused a page's token since their last complete sync.
  var refusedTokens: Set<Int> = []
  /// What the stored positions belong to.
  var history = SyncHistory()
  /// Whether the feed that is followed is there to have the server judge these alone.
  var isJudging = false

  mutating func disconnect() {
    follower?.cancel()
    follower = nil
    partial = []
    isJudging = false
  }
}

/// The feed and the pages: what is asked of the server, and what its answers are to the engine. On the store's thread.
struct SyncDownloads {
  let shell: SyncShell
  let writer: ClientWriter

  // MARK: The feed

  func subscribe(_ generation: Int) throws {
    shell.downloads.disconnect()
    let toJudge = shell.downloads.history.toJudge
    shell.downloads.isJudging = toJudge != nil
    let cursor = toJudge?.description ?? shell.downloads.history.feed?.description
    let view = try writer.value("view").flatMap { $0.isEmpty ? nil : $0 }
    let epoch = shell.epoch
    shell.downloads.follower = shell.server?.follow(from: cursor, view: view) { [weak shell] news in
      await shell?.answered(epoch) { shell, writer in
        guard generation == shell.engine?.generation else { return nil }
        do {
          return try SyncDownloads(shell: shell, writer: writer).event(of: news, generation)
        } catch {
          return .storeFailed(.refused(code: "STORE", message: "\(StoreRoom.error(error))"))
        }
      }
    }
  }

  /// What a report of the feed is to the engine.
  private func event(of news: FeedNews, _ generation: Int) throws -> SyncEvent? {
    switch news {
    case .ready(let resumed, let cursor, let view):
      shell.downloads.refusals = 0
      let mark = cursor.flatMap { Cursor($0) }
      if shell.downloads.isJudging { return try judged(at: resumed ? mark : nil, generation) }
      if let mark, !shell.downloads.history.agrees(with: mark) { return doubt(generation) }
      if try isOtherView(view ?? ""), !resumed, try hasProgress {
        // The models that are complete were synced with other rights: no delta has what the caller may see now.
        try forgetProgress(removesRows: false)
        return .feedReset(generation: generation, reason: EventGap.Reason.viewChanged.rawValue)
      }
      return .subscribed(generation: generation, resumed: resumed, cursor: cursor)
    case .changes(let part):
      if shell.downloads.isJudging { return nil }
      shell.downloads.partial += part.changes
      // A transaction is applied whole.
      guard part.endsTransaction else { return nil }
      defer { shell.downloads.partial = [] }
      if let cursor = part.cursor.flatMap({ Cursor($0) }), !shell.downloads.history.agrees(with: cursor) {
        return doubt(generation)
      }
      return .feed(
        generation: generation, shell.downloads.partial, cursor: part.cursor, position: part.position)
    case .gap(EventGap.Reason.lineage.rawValue, _):
      try forgetHistory()
      return .otherHistory(generation: generation)
    case .gap(let reason, let cursor):
      if shell.downloads.isJudging { return try judged(at: cursor, generation) }
      // A server that gives another reason has written what is stored.
      if let cursor { shell.downloads.history.judged(at: cursor) }
      if reason == EventGap.Reason.retention.rawValue { try SyncUploads(shell: shell, writer: writer).doubt() }
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
    case .restored(let cursor):
      if shell.downloads.isJudging { return nil }
      if let cursor, !shell.downloads.history.agrees(with: cursor) { return doubt(generation) }
      shell.report.announce(.networkStatus(active: true))
      return .reachable
    case .forbidden, .ended(.unauthorized): return try refused(generation)
    case .ended(let failure): return .disconnected(generation: generation, failure)
    }
  }

  /// Stores the digest of what the caller may see. Returns whether it was another one before.
  private func isOtherView(_ view: String) throws -> Bool {
    let known = try writer.value("view") ?? ""
    try shell.change(writer, .live) { try $0.set("view", view) }
    return known != view
  }

  /// Whether a model has been synced.
  private var hasProgress: Bool {
    get throws { try shell.mappings.contains { try writer.value(ModelProgress.name($0.shape)) ?? "" != "" } }
  }

  /// The server has refused the caller the feed: by its rules, or because it does not accept its credentials.
  private func refused(_ generation: Int) throws -> SyncEvent {
    shell.downloads.refusals += 1
    if shell.downloads.refusals == 1 { return .disconnected(generation: generation, .unauthorized) }
    // With fresh credentials as well: the caller may see none of the records.
    try forgetProgress(removesRows: true)
    return .withdrawn(generation: generation)
  }

  /// Another run of the server has answered: the feed restarts, with its judgement of what is stored.
  private func doubt(_ generation: Int) -> SyncEvent { .disconnected(generation: generation, .network) }

  /// The server has written all that is stored: the feed is followed from where it is owed.
  private func judged(at cursor: Cursor?, _ generation: Int) throws -> SyncEvent? {
    shell.downloads.history.judged(at: cursor)
    try shell.change(writer, .live) { try shell.saveHistory($0) }
    try subscribe(generation)
    return nil
  }

  /// The server's log is another one than that which the stored positions come from: everything is synced anew, and
  /// what the server sends then is taken whatever was stored.
  private func forgetHistory() throws {
    shell.downloads.history = SyncHistory()
    try shell.change(writer, .live) { transaction in
      try transaction.set(SyncHistory.aheadName, "")
      try transaction.forgetPositions()
    }
    try forgetProgress(removesRows: false)
  }

  /// Every model is owed a full sync from now on, also after a restart.
  private func forgetProgress(removesRows: Bool) throws {
    shell.downloads.history.forgetFeed()
    try shell.change(writer, .live) { [mappings = shell.mappings] transaction in
      try transaction.set(SyncHistory.feedName, "")
      try shell.saveHistory(transaction)
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
    _ server: any SyncServer, _ model: Int, _ kind: SyncKind, _ token: String?, upTo count: Int?
  ) async -> Result<SyncPage, SyncFailure> {
    do throws(SyncFailure) {
      return .success(try await server.page(model: model, kind, token: token, upTo: count))
    } catch {
      return .failure(error)
    }
  }

  /// What a page is to the engine.
  func event(of result: Result<SyncPage, SyncFailure>, _ generation: Int, _ model: Int) -> SyncEvent {
    switch result {
    case .success(let page):
      shell.downloads.refused.remove(model)
      if generation == shell.engine?.generation, let cursor = page.cursor.flatMap({ Cursor($0) }),
        !shell.downloads.history.takes(cursor)
      {
        return doubt(generation)
      }
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
    case .failure(.refused("INVALID_TOKEN", let message)):
      // In the sync that began since as well: without a pause it would begin again and again.
      guard shell.downloads.refusedTokens.insert(model).inserted else {
        return .queryFailed(generation: generation, model: model, .faulted(code: "INVALID_TOKEN", message: message))
      }
      try? forgetProgress(removesRows: false)
      return .feedReset(generation: generation, reason: "token")
    case .failure(.refused(SyncFailures.forbidden, _)):
      shell.downloads.refused.insert(model)
      return .queryFailed(generation: generation, model: model, .unauthorized)
    case .failure(let failure): return .queryFailed(generation: generation, model: model, failure)
    }
  }
}
