import MartletJSON
import MartletModels
import MartletSyncEngine

/// A server as plainly as possible: records, a log of all changes, and the outcome of every numbered write.
struct NaiveServer {
  struct WriteName: Hashable {
    var client: Int
    var number: Int64
  }

  enum Outcome {
    case applied(ServerImage, position: Int64)
    case failed(SyncFailure)
  }

  private(set) var images: [RecordKey: ServerImage] = [:]
  private(set) var log: [RemoteChange] = []
  private var outcomes: [WriteName: Outcome] = [:]
  /// How often each write was applied.
  private(set) var applied: [WriteName: Int] = [:]
  /// Positions up to this one are no longer in the log for deltas and resumptions.
  private(set) var horizon: Int64 = 0
  /// Whether an update whose field was changed meanwhile is a conflict; otherwise the field stays as the server has it.
  let isOptimistic: Bool

  init(isOptimistic: Bool) { self.isOptimistic = isOptimistic }

  var position: Int64 { Int64(log.count) }
  var records: [RecordKey: Record] { images.compactMapValues(\.record) }

  mutating func forget() { horizon = position }

  mutating func write(_ key: RecordKey, _ write: PendingWrite, client: Int) -> Outcome {
    let name = WriteName(client: client, number: write.number)
    if let known = outcomes[name] { return known }
    let outcome = decide(key, write, name)
    outcomes[name] = outcome
    return outcome
  }

  private mutating func decide(_ key: RecordKey, _ write: PendingWrite, _ name: WriteName) -> Outcome {
    let stored = images[key] ?? ServerImage(record: nil, version: 0, position: 0)
    let after: Record?
    switch (write.content, stored.record) {
    case (.create(let record), nil): after = record
    case (.create, .some): return .failed(.conflict(stored))
    case (.delete, .some): after = nil
    case (.update, nil), (.delete, nil): return .failed(.conflict(stored))
    case (.update(let patches), .some(var record)):
      for patch in patches {
        if record[patch.field] == patch.old {
          record.values[patch.field] = patch.new
        } else if isOptimistic {
          return .failed(.conflict(stored))
        }
      }
      if record[1] == .string("refused") { return .failed(.refused(code: "RULE", message: "not this value")) }
      after = record
    }
    applied[name, default: 0] += 1
    let image = ServerImage(record: after, version: stored.version + 1, position: position + 1)
    images[key] = image
    log.append(RemoteChange(model: 0, key: key, image: image))
    return .applied(image, position: image.position)
  }

  /// A page of 3 records in the order of their keys. The token is the last key.
  func page(_ kind: SyncKind, token: String?) -> SyncPage {
    var kind = kind
    if case .delta(let since) = kind, since < horizon { kind = .full }
    let found: [RecordKey]
    switch kind {
    case .full: found = images.filter { $0.value.record != nil }.map(\.key)
    case .delta(let since): found = Array(Set(log.filter { $0.image.position > since }.map(\.key)))
    }
    let rest = found.sorted { $0.text < $1.text }.filter { token == nil || $0.text > token ?? "" }
    let changes = rest.prefix(3).compactMap { key in
      images[key].map { RemoteChange(model: 0, key: key, image: $0) }
    }
    return SyncPage(
      changes: changes, nextToken: rest.count > 3 ? rest[2].text : nil, startedAt: position, position: position,
      isFull: kind == .full)
  }
}

extension RecordKey {
  var text: String { values.first?.string ?? "" }
}
