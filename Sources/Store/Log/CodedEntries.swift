/// Entries of the log one after the other in one piece of memory: reading thousands of arrays that lie all over the
/// memory takes longer than what is done with them.
struct CodedEntries {
  private(set) var bytes: [UInt8] = []
  /// Where each entry ends.
  private var ends: [Int] = []

  var count: Int { ends.count }
  var isEmpty: Bool { ends.isEmpty }

  mutating func reserve(_ count: Int) { ends.reserveCapacity(count) }

  mutating func append(_ entry: [UInt8]) {
    bytes += entry
    ends.append(bytes.count)
  }

  /// Where an entry lies in `bytes`.
  func place(of index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  /// One entry, as an array of its own.
  subscript(index: Int) -> [UInt8] { Array(bytes[place(of: index)]) }

  /// Marks the last entry as the end of its transaction.
  mutating func markEnd() {
    guard !isEmpty else { return }
    var entry = self[count - 1]
    EntryCoder.markEnd(&entry)
    bytes.replaceSubrange(place(of: count - 1), with: entry)
  }
}
