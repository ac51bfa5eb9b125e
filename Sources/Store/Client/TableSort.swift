internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels

/// All records of a table in the order of a whole number. The table is read from its beginning to its end, in the order
/// of its keys, and the rows are sorted here: through an index each row takes a search of its own in the table.
extension WindowQuery {
  /// The order of the one whole number by which all records are sorted, ahead of their keys; nil for another query.
  func numericOrder(_ shape: RecordShape) -> SortOrder? {
    guard predicate == .all, related.isEmpty, let first = order.terms.first,
      shape.columns[first.field].storage == .integer, !shape.key.contains(first.field)
    else { return nil }
    let rest = order.terms.dropFirst()
    return rest.map(\.field) == shape.key && rest.allSatisfy(\.isAscending) ? first : nil
  }
}

extension SharedChunks<LiveRow> {
  /// Rows that have the order of their keys, in the order of a whole number; null is before all numbers.
  func sorted(by term: SortOrder) -> SharedChunks {
    let rows = elements(in: 0..<count)
    var numbers: ContiguousArray<(number: Int64, place: Int)> = []
    numbers.reserveCapacity(rows.count)
    var nulls: ContiguousArray<Int> = []
    var isSorted = true
    for place in rows.indices {
      guard let number = rows.uncounted(at: place).integer(term.field) else {
        nulls.append(place)
        continue
      }
      if let last = numbers.last, term.isAscending ? last.number > number : last.number < number { isSorted = false }
      numbers.append((number, place))
    }
    if isSorted, nulls.isEmpty { return self }
    // Keys decide between equal numbers.
    if term.isAscending {
      numbers.sort { $0.number == $1.number ? $0.place < $1.place : $0.number < $1.number }
    } else {
      numbers.sort { $0.number == $1.number ? $0.place < $1.place : $0.number > $1.number }
    }
    var sorted: [ContiguousArray<LiveRow>] = []
    sorted.reserveCapacity(rows.count / Self.filled + 1)
    var piece: ContiguousArray<LiveRow> = []
    var left = rows.count
    func append(_ place: Int) {
      // A piece has just the room that it needs.
      if piece.isEmpty { piece.reserveCapacity(Swift.min(Self.filled, left)) }
      piece.append(rows[place])
      left -= 1
      guard piece.count == Self.filled || left == 0 else { return }
      sorted.append(piece)
      piece = []
    }
    if term.isAscending { nulls.forEach(append) }
    for number in numbers { append(number.place) }
    if !term.isAscending { nulls.forEach(append) }
    return SharedChunks(pieces: sorted)
  }
}
