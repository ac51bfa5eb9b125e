internal import MartletChannels
internal import MartletRuntime
internal import MartletStore

/// Keeps definitions and records of channels in the store's log. Confined to its loop.
struct ChannelRecorder {
  /// What the store had when the channels were opened.
  struct Kept: Sendable {
    var definitions: [(name: String, body: [UInt8])] = []
    var records: [String: [UInt8]] = [:]
    var devices: [(name: String, body: [UInt8])] = []
  }

  /// Under which kinds the store keeps them.
  private enum Kind {
    static let definition = "channel"
    static let record = "channel-record"
    static let device = "channel-device"
  }

  let feed: Feed

  func load(_ completion: @escaping (Result<Kept, StoreError>) -> Void) {
    let done = LoopBound(completion, on: feed.loop)
    let request = ReadRequest { (snapshot: ReadSnapshot) throws(StoreError) -> Kept in
      var kept = Kept(definitions: try snapshot.definitions(Kind.definition))
      for record in try snapshot.definitions(Kind.record) { kept.records[record.name] = record.body }
      kept.devices = try snapshot.definitions(Kind.device)
      return kept
    } completion: { (result: Result<Kept, StoreError>) in
      done.value(result)
    }
    feed.store.read([request], to: feed.destination)
  }

  /// Keeps a definition; nil forgets it with its record.
  func keep(
    _ definition: [UInt8]?, of id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void
  ) {
    write(completion) { transaction throws(StoreError) in
      try transaction.define(Kind.definition, id, definition ?? [])
      if definition == nil { try transaction.define(Kind.record, id, []) }
    }
  }

  /// Keeps a record.
  func keep(record: [UInt8], of id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    write(completion) { transaction throws(StoreError) in try transaction.define(Kind.record, id, record) }
  }

  /// Keeps a device; nil forgets it.
  func keep(device: [UInt8]?, of id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    write(completion) { transaction throws(StoreError) in try transaction.define(Kind.device, id, device ?? []) }
  }

  private func write(
    _ completion: @escaping (Result<Void, StoreError>) -> Void,
    _ body: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Void
  ) {
    let done = LoopBound(completion, on: feed.loop)
    let request = WriteRequest(.transaction { transaction in try body(transaction) })
    feed.destination.commit(StoreSubmission(request) { result in done.value(result.map { _ in }) })
  }
}
