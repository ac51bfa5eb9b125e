internal import MartletVocabulary

/// Measures how long the line of ready descriptors is, in time, by standing in it.
///
/// The system hands out ready descriptors in order and at most so many a turn; the rest waits in the kernel, where it
/// cannot be counted. So when a turn's share was a full one, a mark goes to the end of the line: what is ahead of it
/// when it comes back is what a request that became ready with it has waited for. An idle loop sets no mark and pays
/// nothing.
struct ReadyLine {
  private var markedAt: Instant?
  private var measured = Duration.zero

  /// Takes note of a turn that was given as much as a turn takes; true when a mark is to be put at the end of the line.
  /// After any other turn the line is empty, and a new one begins.
  ///
  /// - Parameters:
  ///   - isFull: it was given something beside the mark.
  ///   - hasMark: the mark was among it.
  mutating func turn(isFull: Bool, hasMark: Bool, at now: Instant) -> Bool {
    if let markedAt, hasMark {
      measured = now - markedAt
      self.markedAt = nil
    }
    guard isFull else {
      self = ReadyLine()
      return false
    }
    guard markedAt == nil else { return false }
    markedAt = now
    return true
  }

  /// How long a descriptor that is served now has waited: as long as the last mark, or as long as this one already
  /// does.
  func lag(at now: Instant) -> Duration {
    guard let markedAt else { return measured }
    return max(measured, now - markedAt)
  }
}
