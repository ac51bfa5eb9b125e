internal import MartletRuntime
internal import MartletVocabulary

/// The callers of operations that brought credentials of their own. Confined to a loop.
struct OperationCallers {
  /// One of them; its rights are no longer watched when it is let go.
  private final class Entry {
    let caller: Caller
    private let expiry: LoopTimer?

    init(caller: Caller, expiry: LoopTimer?) {
      self.caller = caller
      self.expiry = expiry
    }

    deinit { expiry?.cancel() }
  }

  private var entries: [Int: Entry] = [:]

  var count: Int { entries.count }

  /// The caller of an operation; nil when it is its session's.
  subscript(number: Int) -> Caller? { entries[number]?.caller }

  mutating func keep(_ caller: Caller, for number: Int, expiry: LoopTimer?) {
    entries[number] = Entry(caller: caller, expiry: expiry)
  }

  /// Forgets the caller of an operation. False when it had none of its own.
  @discardableResult
  mutating func forget(_ number: Int) -> Bool { entries.removeValue(forKey: number) != nil }

  /// Forgets the callers of operations that have ended.
  mutating func retain(_ isRunning: (Int) -> Bool) {
    entries = entries.filter { isRunning($0.key) }
  }

  /// The operations whose caller's grant is not among the good ones, by number.
  func withdrawn(_ isGood: (AccessControl.Grant) -> Bool) -> [Int] {
    entries.filter { entry in entry.value.caller.grant.map { !isGood($0) } ?? false }.keys.sorted()
  }
}
