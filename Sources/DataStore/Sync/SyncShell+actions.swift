internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// What the engine has decided, carried out. On the store's thread.
extension SyncShell {
  func perform(_ action: SyncAction, _ writer: ClientWriter) throws {
    switch action {
    case .subscribe(let generation): try SyncDownloads(shell: self, writer: writer).subscribe(generation)
    case .disconnect: downloads.disconnect()
    case .query(let generation, let model, let kind, let token, let count):
      guard let server else { return }
      ask {
        await SyncDownloads.page(server, model, kind, token, upTo: count)
      } _: { result, shell, writer in
        SyncDownloads(shell: shell, writer: writer).event(of: result, generation, model)
      }
    case .beginFullSync(let model):
      report.beginFullSync(model: model)
      try change(writer, .syncPage, isDurable: false) { try $0.beginFullSync(model: model) }
    case .applyPage(let model, let changes):
      report.received(model: model, changes.count)
      // The model's pages are on the disk when it is finished. Lost before that they are asked for again.
      try change(writer, .syncPage, isDurable: false) { transaction in
        try transaction.receivePage(changes)
        try saveHistory(transaction)
      }
    case .finishModel(let model, let progress, let sweepBefore):
      try change(writer, .syncPage) { [mappings] transaction in
        if let sweepBefore { try transaction.sweep(model: model, before: sweepBefore) }
        try transaction.set(ModelProgress.name(mappings[model].shape), progress.text)
      }
      downloads.refusedTokens.remove(model)
    case .apply(let changes, let cursor):
      try change(writer, .live) { transaction in
        downloads.taken = Set(try transaction.receive(changes))
        if let cursor { try transaction.set(SyncHistory.feedName, cursor) }
      }
      if let cursor = cursor.flatMap({ Cursor($0) }) { downloads.history.feed = cursor }
    case .upload(let generation, let number): try SyncUploads(shell: self, writer: writer).send(generation, number)
    case .acknowledge(let number, let image):
      guard let place = try writer.place(of: number) else { return }
      try change(writer, .mutationResponse) { transaction in
        try transaction.acknowledge(model: place.model, place.key, number, image)
        // Without positions nothing says that the record is newer than the pages which do not have it.
        if !sync.documents.hasPositions, engine?.queuedModels.first == place.model {
          try transaction.see(place.model, [place.key])
        }
        try transaction.set(SyncUploads.answered, String(number))
        try saveHistory(transaction)
      }
    case .reject(let number, let reason):
      guard let place = try writer.place(of: number) else { return }
      let commit = try change(writer, .mutationResponse) { transaction in
        try transaction.reject(model: place.model, place.key, number, reason)
        try transaction.set(SyncUploads.answered, String(number))
      }
      try SyncUploads(shell: self, writer: writer).note(commit.letters, place.model, place.key)
    case .askConflict(let number, let image): try SyncUploads(shell: self, writer: writer).ask(number, image)
    case .resolve(let number, let resolution, let image, let newNumber):
      try SyncUploads(shell: self, writer: writer).resolve(number, resolution, image, newNumber)
    case .refreshCredentials(let generation):
      // The transport asks for credentials with each request.
      follow(with: .credentials(generation: generation, isRefreshed: true))
    // `clear` does this itself, with the engine stopped.
    case .clearStore: break
    case .wake(let time): wake(at: time)
    case .progress(let number, let progress): report.move(number, progress)
    case .abandon(let numbers): for number in numbers { report.finish(number, .serverRestored) }
    // A change that the store did not take was applied with an answer or a page.
    case .hub(.syncReceived(let change)) where !downloads.taken.contains(change): break
    case .hub(let event): report.announce(event)
    }
  }

  /// Stores with a transaction's positions what they belong to.
  func saveHistory(_ transaction: ClientTransaction) throws {
    guard downloads.history.isUnsaved else { return }
    try transaction.set(SyncHistory.aheadName, downloads.history.ahead?.description ?? "")
    downloads.history.saved()
  }

  /// Runs a transaction, passes its changes on and returns what it did.
  @discardableResult
  func change(
    _ writer: ClientWriter, _ source: MutationEvent.Source, isDurable: Bool = true,
    _ body: (ClientTransaction) throws -> Void
  ) throws -> ClientWriter.Commit {
    let commit = try writer.transaction(
      source: source.rawValue, needsAllFields: true, isDurable: isDurable
    ) { transaction in
      transaction.time = surroundings.milliseconds()
      try body(transaction)
    }
    for letter in commit.letters { report.finish(letter.write.number, .rejected(.init(letter.reason))) }
    for write in commit.outbox { follow(with: .outbox(write)) }
    if source == .syncPage {
      for change in commit.changes {
        report.count(model: change.model, isAdded: change.before == nil, isDeleted: change.after == nil)
      }
    }
    room?.streams.publish(commit, source)
    return commit
  }
}
