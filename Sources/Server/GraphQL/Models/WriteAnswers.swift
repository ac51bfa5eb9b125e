internal import MartletChangeFeed
internal import MartletModels
internal import MartletStore

/// Finds what writes have made in the receipt of their transaction.
enum WriteAnswers {
  /// What each write made of its record, among the receipt's records, which are in the writes' order and have cascades
  /// too. Nil for one that is no longer known.
  static func records(_ planned: [PlannedWrite], _ receipt: Receipt) -> [WrittenRecord?] {
    struct Written: Hashable {
      var kind: ChangeKind
      var model: Int
      var key: RecordKey
    }
    // Most mutations write one record and change no other.
    if planned.count == 1, receipt.outcomes.count == 1, !receipt.isRepeat, case .record(let only) = receipt.outcomes[0],
      planned[0].made(only)
    {
      return [only.record == nil ? nil : only]
    }
    // Taken once: the receipt collects them anew each time, which made 10,000 answers take 14 s.
    let records = receipt.records
    // Several writes of one record have several entries: each takes the next one of its own kind.
    var places: [Written: [Int]] = [:]
    for (index, record) in records.enumerated().reversed() {
      places[Written(kind: record.kind, model: record.model, key: record.key), default: []].append(index)
    }
    func place(of entry: PlannedWrite) -> Int? {
      func next(_ kind: ChangeKind) -> Int? {
        places[Written(kind: kind, model: entry.model.number, key: entry.key)]?.popLast()
      }
      return next(entry.write.kind) ?? entry.otherKind.flatMap(next)
    }
    let found = planned.map(place)
    func known(_ place: Int?) -> WrittenRecord? {
      place.flatMap { records[$0].record == nil ? nil : records[$0] }
    }
    guard receipt.isRepeat else { return found.map(known) }
    // A repeated create was given a fresh id here; the first one's stands in the receipt, in the order of the writes.
    let taken = Set(found.compactMap { $0 })
    var fresh: [Int: [Int]] = [:]
    for (index, record) in records.enumerated().reversed()
    where record.kind == .create && !taken.contains(index) {
      fresh[record.model, default: []].append(index)
    }
    return zip(planned, found).map { entry, place in
      let place = place ?? (entry.write.kind == .create ? fresh[entry.model.number]?.popLast() : nil)
      return known(place)
    }
  }
}

extension PlannedWrite {
  /// The other kind of change that the write may have come to: a conflict's handler may remove the record that an
  /// update was for, and change one that was to be deleted.
  fileprivate var otherKind: ChangeKind? {
    guard base?.strategy == .lambda else { return nil }
    switch write {
    case .create: return nil
    case .update: return .delete
    case .delete: return .update
    }
  }

  /// Whether a record of a receipt is what this write made.
  fileprivate func made(_ record: WrittenRecord) -> Bool {
    (record.kind == write.kind || record.kind == otherKind) && record.model == model.number && record.key == key
  }
}
