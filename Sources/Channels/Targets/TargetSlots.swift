/// The attempts that one target gets at a time; channels beyond it wait in the order in which they asked.
package struct TargetSlots: Sendable {
  private let limit: Int
  private var active: Set<String> = []
  private var waiting: [String] = []

  package init(limit: Int) {
    self.limit = max(1, limit)
  }

  package var activeCount: Int { active.count }
  package var waitingCount: Int { waiting.count }

  /// A channel wants to send; whether it may now. Otherwise `release` or `leave` names it when it may ask again.
  package mutating func take(_ channel: String) -> Bool {
    if active.contains(channel) { return true }
    let isFirst = waiting.first.map { $0.utf8.elementsEqual(channel.utf8) } ?? true
    if active.count < limit, isFirst {
      if !waiting.isEmpty { waiting.removeFirst() }
      active.insert(channel)
      return true
    }
    if !waiting.contains(where: { $0.utf8.elementsEqual(channel.utf8) }) { waiting.append(channel) }
    return false
  }

  /// A channel has ended its attempt.
  ///
  /// - Returns: the channel whose turn it is.
  package mutating func release(_ channel: String) -> String? {
    active.remove(channel)
    return active.count < limit ? waiting.first : nil
  }

  /// A channel is gone, or no longer wants to send.
  package mutating func leave(_ channel: String) -> String? {
    waiting.removeAll { $0.utf8.elementsEqual(channel.utf8) }
    return release(channel)
  }
}
