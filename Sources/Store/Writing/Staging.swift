/// The large write that an authority makes in slices: at most one at a time. Confined to the writer's executor.
final class Staging {
  private let file: StoreFile
  private let limits: StoreLimits
  /// The write; it stays here when a full disk kept its rows from being removed.
  private(set) var staged: StagedWrite?

  init(_ file: StoreFile, _ limits: StoreLimits) {
    self.file = file
    self.limits = limits
  }

  /// Whether there is more to be done for a write.
  var isActive: Bool { staged.map { !$0.isOver || $0.isMoving } ?? false }

  /// Whether it waits for room on the disk. Other writes do not wait for it.
  var isStuck: Bool { staged?.isStuck == true }

  /// Whether the writer has to continue it before another large write.
  var isWorking: Bool { isActive && !isStuck }

  /// The time that all groups have until the write's own; nil when there is none.
  var time: Int64? { staged.flatMap { $0.isDoomed || $0.isOver ? nil : $0.time } }

  /// Begins a write at `time`; false for one that has to be run in one piece, now or always.
  func begin(_ write: SubmittedWrite, at time: Int64) -> Bool {
    guard file.failure == nil, !isActive else { return false }
    do throws(StoreError) {
      try end()
      guard let next = StagedWrite(write, file, limits, at: time) else { return false }
      try next.begin()
      staged = next
      return true
    } catch {
      return false  // what stands in its way is found when it is run
    }
  }

  /// Gives a slice of the committed write's entries their rows.
  func move() throws(StoreError) {
    guard let staged else { return }
    try staged.move()
    if !staged.isMoving { self.staged = nil }
  }

  /// Takes back the rows of a write that is not committed, which is run in one piece then.
  func takeBack() throws(StoreError) {
    guard let staged, !staged.isMoving else { return }
    try staged.withdraw()
  }

  /// Takes back the rows of a write that is not committed, and forgets it.
  func end() throws(StoreError) {
    try takeBack()
    if staged?.isMoving == false { staged = nil }
  }

  /// The write has its outcome, a failure. Rows that cannot be removed now stay hidden, and the next turn tries again.
  func giveUp() {
    staged?.isOver = true
    try? end()
  }

  /// Ends everything that can be ended here; the write, when it waits for its outcome. The next process that opens the
  /// folder does what could not be done.
  func abandon() -> SubmittedWrite? {
    let write = staged?.isOver == false ? staged?.write : nil
    while staged?.isMoving == true, (try? move()) != nil {}
    giveUp()
    return write
  }
}
