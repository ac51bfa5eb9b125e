/// Bounds of the documents a server keeps by their hash.
package struct PersistedOperationLimits: Sendable {
  /// Most documents. An application has some hundred operations; several versions of it are in use.
  package var documents = 2_000
  /// Bytes of all documents.
  package var bytes = 4_194_304

  package init() {}
}

/// Documents by their SHA-256. When full, the older half by last use leaves, so that an insertion costs little on
/// average; a client whose document was evicted gets an error that says so and sends it again.
package struct PersistedOperationStore: Sendable {
  private struct Entry {
    var document: String
    var lastUse: UInt64
  }

  package let limits: PersistedOperationLimits
  /// Bytes of all documents kept.
  package private(set) var byteCount = 0
  private var entries: [[UInt8]: Entry] = [:]
  private var uses: UInt64 = 0

  package init(limits: PersistedOperationLimits = PersistedOperationLimits()) {
    self.limits = limits
  }

  package var count: Int { entries.count }

  /// The document of a hash.
  package mutating func document(_ operation: PersistedOperation) -> String? {
    guard let index = entries.index(forKey: operation.hash) else { return nil }
    uses += 1
    entries.values[index].lastUse = uses
    return entries.values[index].document
  }

  /// Keeps a document under its hash, which the caller has checked. One larger than all may be together is not kept.
  package mutating func keep(_ document: String, as operation: PersistedOperation) {
    let size = document.utf8.count
    guard size <= limits.bytes, limits.documents > 0, entries[operation.hash] == nil else { return }
    if entries.count >= limits.documents || byteCount + size > limits.bytes { makeRoom(for: size) }
    uses += 1
    entries[operation.hash] = Entry(document: document, lastUse: uses)
    byteCount += size
  }

  private mutating func makeRoom(for size: Int) {
    let order = entries.map { ($0.value.lastUse, $0.key, $0.value.document.utf8.count) }.sorted { $0.0 < $1.0 }
    let half = (order.count + 1) / 2
    for (position, entry) in order.enumerated() {
      if position >= half, byteCount + size <= limits.bytes { return }
      entries[entry.1] = nil
      byteCount -= entry.2
    }
  }
}
