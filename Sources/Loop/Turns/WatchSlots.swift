internal import MartletRuntime

/// The handler of each descriptor. A token is a slot's index and how often the slot was used, so that an event gathered
/// before a descriptor was closed cannot reach the slot's next owner.
struct WatchSlots {
  private struct Slot {
    var handler: (any ReadinessHandler)?
    var uses: UInt32
  }

  private var slots: [Slot] = []
  private var free: [UInt32] = []

  var count: Int { slots.count - free.count }

  mutating func insert(_ handler: any ReadinessHandler) -> UInt64 {
    let index: UInt32
    if let reused = free.popLast() {
      index = reused
      slots[Int(index)].handler = handler
    } else {
      index = UInt32(truncatingIfNeeded: slots.count)
      slots.append(Slot(handler: handler, uses: 0))
    }
    return UInt64(slots[Int(index)].uses) << 32 | UInt64(index)
  }

  func handler(for token: UInt64) -> (any ReadinessHandler)? {
    guard let index = index(of: token) else { return nil }
    return slots[index].handler
  }

  /// Frees the slot; false when the token was not in use.
  @discardableResult
  mutating func remove(_ token: UInt64) -> Bool {
    guard let index = index(of: token) else { return false }
    slots[index].handler = nil
    // The waker's token is all ones; a slot's count never gets there in the life of a process.
    slots[index].uses &+= 1
    free.append(UInt32(truncatingIfNeeded: index))
    return true
  }

  /// Every handler still watched; for the end of the loop.
  var handlers: [any ReadinessHandler] {
    slots.compactMap(\.handler)
  }

  private func index(of token: UInt64) -> Int? {
    let index = Int(token & 0xFFFF_FFFF)
    guard index < slots.count, slots[index].handler != nil, UInt64(slots[index].uses) == token >> 32 else {
      return nil
    }
    return index
  }
}
