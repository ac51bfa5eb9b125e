package import MartletChangeFeed
package import MartletModels
package import MartletVocabulary

/// The result of a durable write.
package struct Receipt: Sendable, Equatable {
  /// What one change of the write did: one case for each participant.
  package enum Outcome: Sendable, Equatable {
    case record(WrittenRecord)
    case event
    case tree

    init(of body: Change.Body) {
      switch body {
      case .record(let change):
        self = .record(
          WrittenRecord(
            kind: change.kind, model: change.model, key: change.key, version: change.version, record: change.image))
      case .event: self = .event
      case .tree: self = .tree
      }
    }
  }

  package var writeNumber: WriteNumber?
  /// The outcome of every change, in order, cascades included.
  package var outcomes: [Outcome]
  /// First and last offset of the write's changes in the log; nil when it changed nothing.
  package var offsets: ClosedRange<Int64>?
  /// Whether the write was a resend that had been applied before.
  package var isRepeat: Bool
  /// When it was committed, in milliseconds since 1970; 0 for a resend whose log entries are forgotten.
  package var time: Int64 = 0

  package init(
    writeNumber: WriteNumber?, outcomes: [Outcome], offsets: ClosedRange<Int64>?, isRepeat: Bool = false
  ) {
    self.writeNumber = writeNumber
    self.outcomes = outcomes
    self.offsets = offsets
    self.isRepeat = isRepeat
  }

  /// The records written, in order, cascades included. Collected anew at each call.
  package var records: [WrittenRecord] {
    outcomes.compactMap { outcome in
      if case .record(let record) = outcome { return record }
      return nil
    }
  }

  /// Gives the records their values, in order; does nothing when the counts differ.
  mutating func fill(_ images: [Record]) {
    guard images.count == records.count else { return }
    var next = images.startIndex
    for index in outcomes.indices {
      guard case .record(var written) = outcomes[index] else { continue }
      written.record = images[next]
      outcomes[index] = .record(written)
      next += 1
    }
  }
}

/// One record of a receipt.
package struct WrittenRecord: Sendable, Equatable {
  package var kind: ChangeKind
  package var model: Int
  package var key: RecordKey
  package var version: Int64
  /// The record after the write; before it, for a deletion. Nil only for a resend whose log entry is forgotten.
  package var record: Record?

  package init(kind: ChangeKind, model: Int, key: RecordKey, version: Int64, record: Record?) {
    self.kind = kind
    self.model = model
    self.key = key
    self.version = version
    self.record = record
  }
}
