internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine

/// What the engine has decided, carried out. On the store's thread.
extension SyncShell {
  func perform(_ action: SyncAction, _ writer: ClientWriter) throws {
    switch action {
    case .subscribe(let generation): try subscribe(generation, writer)
    case .disconnect:
      follower?.cancel()
      follower = nil
      partial = []
    case .query(let generation, let model, let kind, let token): query(generation, model, kind, token)
    case .beginFullSync(let model):
      status.models[mappings[model].name]?.received = 0
      try change(writer, .syncPage) { try $0.beginFullSync(model: model) }
    case .applyPage(let model, let changes):
      status.models[mappings[model].name]?.received += changes.count
      try change(writer, .syncPage) { try $0.receivePage(changes) }
    case .finishModel(let model, let progress, let sweepBefore):
      try change(writer, .syncPage) { [mappings] transaction in
        if let sweepBefore { try transaction.sweep(model: model, before: sweepBefore) }
        try transaction.set(Self.progressName(mappings[model].shape), progress.text)
      }
    case .apply(let changes, let cursor):
      try change(writer, .live) { transaction in
        try transaction.receive(changes)
        if let cursor { try transaction.set("cursor", cursor) }
      }
    case .upload(let generation, let number): try upload(generation, number, writer)
    case .acknowledge(let number, let image):
      guard let place = try writer.place(of: number) else { return }
      try change(writer, .mutationResponse) { transaction in
        try transaction.acknowledge(model: place.model, place.key, number, image)
      }
    case .reject(let number, let reason):
      guard let place = try writer.place(of: number) else { return }
      try change(writer, .mutationResponse) { transaction in
        try transaction.reject(model: place.model, place.key, number, reason)
      }
    case .askConflict(let number, let image): try ask(number, image, writer)
    case .resolve(let number, let resolution, let image, let newNumber):
      try resolve(number, resolution, image, newNumber, writer)
    case .refreshCredentials(let generation):
      // The transport asks for credentials with each request.
      follow(with: .credentials(generation: generation, isRefreshed: true))
    case .clearStore:
      try change(writer, .live) { try $0.clear() }
      for number in handles.keys { finish(number, nil) }
      handles = [:]
    case .wake(let time): wake(at: time)
    case .progress(let number, let progress): move(number, progress)
    case .hub(let event): announce(event)
    }
  }

  /// Runs a transaction and passes its changes on.
  private func change(
    _ writer: ClientWriter, _ source: MutationEvent.Source, _ body: (ClientTransaction) throws -> Void
  ) throws {
    let commit = try writer.transaction(source: source.rawValue) { transaction in
      transaction.time = WallClock.sinceEpoch().wholeNanoseconds / 1_000_000
      try body(transaction)
    }
    for letter in commit.letters { finish(letter.write.number, .init(letter.reason)) }
    for write in commit.outbox { follow(with: .outbox(write)) }
    room?.publish(commit, source)
  }

  // MARK: The feed

  private func subscribe(_ generation: Int, _ writer: ClientWriter) throws {
    follower?.cancel()
    partial = []
    let cursor = try writer.value("cursor").flatMap { $0.isEmpty ? nil : $0 }
    let epoch = epoch
    follower = server?.follow(from: cursor) { [weak self] news in
      self?.answer(epoch) { shell, writer in shell.event(of: news, generation, writer) }
    }
  }

  /// What a report of the feed is to the engine.
  private func event(of news: FeedNews, _ generation: Int, _ writer: ClientWriter) -> SyncEvent? {
    guard generation == engine?.generation else { return nil }
    switch news {
    case .ready(let resumed): return .subscribed(generation: generation, resumed: resumed, cursor: nil)
    case .changes(let changes, let cursor, let position):
      newestPosition = max(newestPosition, position)
      partial += changes
      // A transaction is applied whole. Servers without cursors have none.
      if cursor == nil, position > 0 { return nil }
      defer { partial = [] }
      return .feed(generation: generation, partial, cursor: cursor, position: position)
    case .gap(let reason):
      try? change(writer, .live) { try $0.set("cursor", "") }
      return .feedReset(generation: generation, reason: reason)
    case .interrupted:
      announce(.networkStatus(active: false))
      publishStatus(writer)
      return nil
    case .restored:
      announce(.networkStatus(active: true))
      return .reachable
    case .ended(let failure): return .disconnected(generation: generation, failure)
    }
  }

  // MARK: Pages

  private func query(_ generation: Int, _ model: Int, _ kind: SyncKind, _ token: String?) {
    guard let server else { return }
    let epoch = epoch
    spawner.spawn { [weak self] in
      let result: Result<SyncPage, SyncFailure>
      do throws(SyncFailure) {
        result = .success(try await server.page(model: model, kind, token: token))
      } catch {
        result = .failure(error)
      }
      self?.answer(epoch) { shell, _ in shell.event(of: result, generation, model) }
    }
  }

  private func event(of result: Result<SyncPage, SyncFailure>, _ generation: Int, _ model: Int) -> SyncEvent {
    switch result {
    case .success(let page):
      if page.position < .max { newestPosition = max(newestPosition, page.position) }
      return .page(generation: generation, model: model, page)
    // The caller may not sync the model, with fresh credentials as well: it has no records of it.
    case .failure(.unauthorized) where refused.contains(model):
      let page = SyncPage(changes: [], startedAt: 0, position: newestPosition, isFull: true)
      return .page(generation: generation, model: model, page)
    case .failure(let failure):
      if failure == .unauthorized { refused.insert(model) }
      return .queryFailed(generation: generation, model: model, failure)
    }
  }

  // MARK: Uploads

  private func upload(_ generation: Int, _ number: Int64, _ writer: ClientWriter) throws {
    guard let place = try writer.place(of: number),
      let before = try writer.pending(model: place.model, place.key).first(where: { $0.number == number })
    else { return follow(with: .outbox(.removed([number]))) }
    let client = try clientName(writer)
    let version = try writer.image(model: place.model, place.key)?.version ?? 0
    let first = try writer.firstPending() ?? number
    var sent: PendingWrite?
    try change(writer, .local) { sent = try $0.send(model: place.model, place.key, number) }
    guard let sent, let server else { return }
    let upload = SyncUpload(
      model: place.model, key: place.key, write: sent, version: version, client: client,
      acknowledged: min(first, number) - 1, isResend: before.isSent)
    let epoch = epoch
    spawner.spawn { [weak self] in
      let event: SyncEvent
      do throws(SyncFailure) {
        let answer = try await server.upload(upload)
        event = .uploaded(generation: generation, number: number, answer.image, position: answer.position)
      } catch {
        event = .uploadFailed(generation: generation, number: number, error)
      }
      self?.answer(epoch) { _, _ in event }
    }
  }

  /// This store's name for the server, kept over restarts.
  private func clientName(_ writer: ClientWriter) throws -> String {
    if let known = try writer.value("client") { return known }
    var chance = SystemChance.generator()
    // 128 bits, so that no two stores ever share a name.
    let name = String(chance.next(), radix: 16) + "-" + String(chance.next(), radix: 16)
    try change(writer, .local) { try $0.set("client", name) }
    return name
  }

  // MARK: Conflicts

  private func ask(_ number: Int64, _ image: ServerImage, _ writer: ClientWriter) throws {
    guard let place = try writer.place(of: number),
      let write = try writer.pending(model: place.model, place.key).first(where: { $0.number == number })
    else { return follow(with: .outbox(.removed([number]))) }
    let mapping = mappings[place.model]
    let local = try writer.row(model: place.model, place.key)?.record
    let conflict = DataStoreConflict(
      modelName: mapping.name, modelId: mapping.text(place.key), local: local.map { mapping.json($0).description },
      remote: image.record.map { mapping.json($0).description }, attempt: write.conflicts)
    let handler = configuration.conflictHandler
    let epoch = epoch
    spawner.spawn { [weak self] in
      let answer = await handler(conflict)
      self?.answer(epoch) { shell, writer in shell.event(of: answer, number, mapping, writer) }
    }
  }

  private func event(
    of answer: DataStoreConflictResolution, _ number: Int64, _ mapping: ModelMapping, _ writer: ClientWriter
  ) -> SyncEvent? {
    var resolution = RecordReplica.Resolution.applyRemote
    switch answer {
    case .applyRemote: break
    case .retryLocal: resolution = .retryLocal
    case .retry(let model):
      if let record = try? mapping.record(model) {
        resolution = .retry(record)
      } else {
        report(DataStoreError(.invalidModel, "a conflict handler returned a record that is not a \(mapping.name)"))
      }
    }
    do {
      var newNumber: Int64 = 0
      try change(writer, .local) { newNumber = try $0.takeNumber() }
      return .resolved(number: number, resolution, newNumber: newNumber)
    } catch {
      report(error as? DataStoreError ?? DataStoreError(.storage, "\(error)"))
      return nil
    }
  }

  private func resolve(
    _ number: Int64, _ resolution: RecordReplica.Resolution, _ image: ServerImage, _ newNumber: Int64,
    _ writer: ClientWriter
  ) throws {
    guard let place = try writer.place(of: number) else {
      return follow(with: .settled(number: number, retriedAs: nil))
    }
    var isRetried = false
    try change(writer, .mutationResponse) { transaction in
      isRetried = try transaction.resolve(
        model: place.model, place.key, number, resolution, image, newNumber: newNumber)
    }
    if isRetried {
      handles[newNumber] = handles.removeValue(forKey: number)
    } else {
      finish(number, nil)
    }
    follow(with: .settled(number: number, retriedAs: isRetried ? newNumber : nil))
  }
}
