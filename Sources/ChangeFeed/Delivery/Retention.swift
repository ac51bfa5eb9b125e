/// What the log keeps: by age and by bytes, whichever forgets first. Decides only; the store deletes.
package struct Retention: Sendable, Equatable {
  /// How long a transaction stays, in milliseconds of the calendar clock; nil for ever.
  package var maximumAge: Int64?
  /// Bytes of entries that stay; nil without bound.
  package var maximumBytes: Int64?

  /// One week and 1 GiB: longer than a weekend away, smaller than a small disk.
  package init(maximumAge: Int64? = 7 * 86_400_000, maximumBytes: Int64? = 1 << 30) {
    self.maximumAge = maximumAge
    self.maximumBytes = maximumBytes
  }

  /// A stretch of the log that ends with a transaction.
  package struct Stretch: Sendable, Equatable {
    package var lastOffset: Int64
    /// When its last transaction was committed, in milliseconds since 1970.
    package var committedAt: Int64
    package var byteCount: Int64

    package init(lastOffset: Int64, committedAt: Int64, byteCount: Int64) {
      self.lastOffset = lastOffset
      self.committedAt = committedAt
      self.byteCount = byteCount
    }
  }

  /// The offset up to which the log may be forgotten, given its stretches from the oldest on and the bytes of all of
  /// it; nil to keep everything. The last stretch always stays. Ends at the first stretch that stays, so a clock that
  /// was set back keeps more, never less.
  package func forgettable(_ oldest: some Sequence<Stretch>, totalBytes: Int64, now: Int64) -> Int64? {
    var kept = totalBytes
    var result: Int64?
    var candidate: Stretch?
    for stretch in oldest {
      if let candidate { result = candidate.lastOffset }
      let isOld = maximumAge.map { age in
        let (limit, overflow) = stretch.committedAt.addingReportingOverflow(age)
        return !overflow && limit < now
      }
      let isTooMuch = maximumBytes.map { kept > $0 }
      guard isOld == true || isTooMuch == true else { return result }
      kept -= stretch.byteCount
      candidate = stretch
    }
    return result
  }
}
