package import MartletVocabulary

/// What the store's writer measures of its groups.
package struct StoreMeasures: Sendable {
  /// Writes in each group.
  package private(set) var writes = Histogram(Histogram.sizes)
  /// Microseconds from a group's first write to the disk's confirmation.
  package private(set) var commits = Histogram(Histogram.microseconds)

  mutating func note(writes count: Int, took time: Duration) {
    writes.add(Int64(count))
    commits.add(time.wholeMicroseconds)
  }
}
