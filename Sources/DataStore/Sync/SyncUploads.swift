internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine

/// Writes on their way to the server, and conflicts. On the store's thread.
struct SyncUploads {
  /// The name of the value that says that the server has answered a write of this store.
  static let answered = "answered"
  /// The name of the value that has the number of the write which had been sent when the server had cut its log.
  static let doubted = "doubted"

  let shell: SyncShell
  let writer: ClientWriter

  // MARK: Uploads

  func send(_ generation: Int, _ number: Int64) throws {
    guard let place = try writer.place(of: number),
      let before = try writer.pending(model: place.model, place.key).first(where: { $0.number == number })
    else { return shell.follow(with: .outbox(.removed([number]))) }
    let client = try shell.clientName(writer)
    let image = try writer.image(model: place.model, place.key)
    let first = try writer.firstPending() ?? number
    let hasAnswer = try writer.value(Self.answered) != nil
    let isDoubted = try writer.value(Self.doubted) == String(number)
    var sent: PendingWrite?
    try shell.change(writer, .local) { sent = try $0.send(model: place.model, place.key, number) }
    guard let sent, let server = shell.server else { return }
    let upload = SyncUpload(
      model: place.model, key: place.key, write: sent, image: image, client: client,
      acknowledged: min(first, number) - 1, isResend: before.isSent && (hasAnswer || isDoubted))
    shell.report.note(try mutation(number, place.model, place.key, image?.version))
    let epoch = shell.epoch
    shell.spawner.spawn { [weak shell] in
      let answer = await server.upload(upload)
      shell?.answer(epoch) { shell, _ in
        if let cursor = answer.cursor, generation == shell.engine?.generation, !shell.downloads.history.takes(cursor) {
          return .disconnected(generation: generation, .network)
        }
        switch answer.result {
        case .success(let uploaded):
          shell.note(uploaded, number, place.model, place.key)
          return .uploaded(generation: generation, number: number, uploaded.image, position: uploaded.position)
        case .failure(let failure): return .uploadFailed(generation: generation, number: number, failure)
        }
      }
    }
  }

  /// The server has cut its log, and may have forgotten that it has the write whose answer is awaited. A client's first
  /// write would be taken for a new one.
  func doubt() throws {
    guard let number = try writer.sentWrite() else { return }
    try shell.change(writer, .local) { try $0.set(Self.doubted, String(number)) }
  }

  /// A write as the events show it.
  private func mutation(
    _ number: Int64, _ model: Int, _ key: RecordKey, _ version: Int64?
  ) throws -> DataStoreEvent.SyncedMutation {
    let mapping = shell.mappings[model]
    let row = try writer.row(model: model, key)
    return .init(
      write: number, modelName: mapping.name, modelId: mapping.text(key),
      json: row.map { mapping.json($0.record).description }, version: version, isDeleted: row == nil)
  }

  /// Notes of refused writes that were never sent what their events say.
  func note(_ letters: [DeadLetter], _ model: Int, _ key: RecordKey) throws {
    for letter in letters where !letter.write.isSent {
      var noted = try mutation(letter.write.number, model, key, nil)
      if case .create(let record) = letter.write.content { noted.json = shell.mappings[model].json(record).description }
      noted.isDeleted = letter.write.mutationType == .delete
      shell.report.note(noted)
    }
  }

  // MARK: Conflicts

  func ask(_ number: Int64, _ image: ServerImage) throws {
    guard let place = try writer.place(of: number),
      let write = try writer.pending(model: place.model, place.key).first(where: { $0.number == number })
    else { return shell.follow(with: .outbox(.removed([number]))) }
    // The record is the one that has left this store, and no client has written to it since: nothing is in conflict.
    if case .create = write.content, image.hidden != nil,
      try writer.image(model: place.model, place.key)?.version == image.version
    {
      return shell.follow(with: .resolved(number: number, .retryLocal, newNumber: number))
    }
    let mapping = shell.mappings[place.model]
    let local = try record(after: number, place.model, place.key)
    let conflict = DataStoreConflict(
      modelName: mapping.name, modelId: mapping.text(place.key), mutationType: write.mutationType,
      local: local.map { mapping.json($0).description },
      remote: (image.record ?? image.hidden).map { mapping.json($0).description },
      attempt: write.conflicts)
    let handler = shell.configuration.conflictHandler
    let epoch = shell.epoch
    shell.spawner.spawn { [weak shell] in
      let answer = await handler(conflict)
      shell?.answer(epoch) { shell, writer in
        SyncUploads(shell: shell, writer: writer).event(of: answer, number, mapping, place.key)
      }
    }
  }

  /// The record as a write leaves it, without the writes after it: their conditions are theirs.
  private func record(after number: Int64, _ model: Int, _ key: RecordKey) throws -> Record? {
    let earlier = try writer.pending(model: model, key).prefix { $0.number <= number }
    let image = try writer.image(model: model, key)
    return RecordReplica(server: image, pending: Array(earlier)).visible
  }

  private func event(
    of answer: DataStoreConflictResolution, _ number: Int64, _ mapping: ModelMapping, _ key: RecordKey
  ) -> SyncEvent {
    var resolution = RecordReplica.Resolution.applyRemote
    switch answer {
    case .applyRemote: break
    case .retryLocal: resolution = .retryLocal
    case .retry(let model):
      if !type(of: model).modelName.utf8.elementsEqual(mapping.name.utf8) {
        fail("a conflict handler returned a record that is not a \(mapping.name)")
      } else if let record = try? mapping.record(model), mapping.key(record) == key {
        resolution = .retry(record)
      } else {
        fail("a conflict handler returned another \(mapping.name) than the one that it was asked about")
      }
    }
    return .resolved(number: number, resolution, newNumber: number)
  }

  private func fail(_ message: String) { shell.report.fail(DataStoreError(.invalidModel, message)) }

  /// The number of the write that replaces this one is drawn here: the store knows how many are needed.
  func resolve(
    _ number: Int64, _ resolution: RecordReplica.Resolution, _ image: ServerImage, _ newNumber: Int64
  ) throws {
    guard let place = try writer.place(of: number) else {
      return shell.follow(with: .settled(number: number, .unneeded))
    }
    var renumbered: [(old: Int64, new: Int64)] = []
    let commit = try shell.change(writer, .mutationResponse) { transaction in
      renumbered = try transaction.resolve(model: place.model, place.key, number, resolution, image)
      try shell.saveHistory(transaction)
      try transaction.set(Self.answered, String(number))
    }
    try note(commit.letters, place.model, place.key)
    let retried = renumbered.first { $0.old == number }?.new
    for (old, new) in renumbered { shell.report.renumber(old, new) }
    let isRefused = commit.letters.contains { $0.write.number == number }
    if retried == nil, !isRefused { shell.report.supersede(number, at: place) }
    let ended = isRefused ? Settlement.refused : .unneeded
    shell.follow(with: .settled(number: number, retried.map { .retried(as: $0) } ?? ended))
    // Later writes of the record come after the one that is made again.
    for (old, new) in renumbered where old != number {
      shell.follow(with: .outbox(.removed([old])))
      shell.follow(with: .outbox(.added(number: new, model: place.model)))
    }
  }
}

extension SyncShell {
  /// What the server has answered a write with.
  fileprivate func note(_ answer: SyncUploaded, _ number: Int64, _ model: Int, _ key: RecordKey) {
    let mapping = mappings[model]
    report.note(
      .init(
        write: number, modelName: mapping.name, modelId: mapping.text(key),
        json: answer.image?.record.map { mapping.json($0).description }, version: answer.image?.version,
        lastChangedAt: answer.changedAt, isDeleted: answer.image.map { $0.record == nil } ?? false))
  }
}

extension PendingWrite {
  var mutationType: MutationEvent.MutationType {
    switch content {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }
}
