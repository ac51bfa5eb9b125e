/// The entries of one commit: the unit in which a log is written, sent to other stores and folded by them.
///
/// A group is folded whole or not at all. Its bytes carry the running checksum before and after it, so that a store
/// notices damage on the way and a history that differs from its own before it changes anything.
package struct LogGroup: Sendable, Equatable {
  /// The offset of the first entry; the others follow without a hole.
  package var first: Int64
  /// The term in which it was written.
  package var term: UInt64
  /// Milliseconds since 1970, never less than the previous group's. The records' times are taken from it.
  package var time: Int64
  /// The running checksum before its first entry.
  package var checksumBefore: UInt64
  /// Each entry in its binary form. Never empty.
  package var entries: [[UInt8]]

  package init(first: Int64, term: UInt64, time: Int64, checksumBefore: UInt64, entries: [[UInt8]]) {
    self.first = first
    self.term = term
    self.time = time
    self.checksumBefore = checksumBefore
    self.entries = entries
  }

  /// The offset of the last entry.
  package var last: Int64 { first + Int64(entries.count) - 1 }

  /// The running checksum after its last entry.
  package var checksumAfter: UInt64 {
    var checksum = RunningChecksum(checksumBefore)
    for (index, entry) in entries.enumerated() {
      checksum.add(entry, offset: first + Int64(index), head: first, time: time)
    }
    return checksum.value
  }

  // MARK: Bytes

  /// The version of the form below; another one is refused.
  private static let format: UInt8 = 1

  /// The group in its binary form, which `init(bytes:)` reads.
  package var bytes: [UInt8] {
    var writer = EntryWriter()
    writer.byte(Self.format)
    writer.unsigned(UInt64(bitPattern: first))
    writer.fixed(term)
    writer.unsigned(UInt64(bitPattern: time))
    writer.fixed(checksumBefore)
    writer.count(entries.count)
    for entry in entries { writer.blob(entry) }
    writer.fixed(checksumAfter)
    return writer.bytes
  }

  /// Reads a group.
  ///
  /// - Throws: `newerFormat`, or `damaged` when bytes are missing, left over or not what their checksum says.
  package init(bytes: [UInt8]) throws(StoreError) {
    var reader = EntryReader(bytes)
    do throws(StoreError) {
      guard try reader.byte() == Self.format else {
        throw StoreError(.newerFormat, "the group has a format that this version does not read")
      }
      first = try reader.signedPattern()
      term = try reader.fixed()
      time = try reader.signedPattern()
      checksumBefore = try reader.fixed()
      entries = []
      for _ in 0..<(try reader.count()) { entries.append(try reader.blob()) }
      guard first > 0, first < 1 << 62, !entries.isEmpty else { throw EntryReader.damaged }
      let checksum = try reader.fixed()
      guard reader.isAtEnd, checksum == checksumAfter else { throw EntryReader.damaged }
    } catch {
      if error.code == .newerFormat { throw error }
      throw StoreError(.damaged, "a group of the log is damaged or cut off")
    }
  }
}
