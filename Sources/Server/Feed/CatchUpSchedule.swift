internal import MartletRuntime

/// The turns of a loop in which its readers catch up. `CatchUpTurn` decides which reader works in which turn. Confined
/// to its feed's loop.
final class CatchUpSchedule {
  private let loop: any Loop
  /// The work of one turn.
  private let bound: Int
  private var turn = CatchUpTurn()

  init(on loop: any Loop, workPerTurn bound: Int) {
    self.loop = loop
    self.bound = bound
  }

  /// The most work that was done in one turn.
  var largest: Int { turn.largest }

  /// Whether readers may work in this turn.
  var mayWork: Bool { turn.mayWork(at: loop.now, bound) }

  /// Counts work of this turn.
  func spend(_ work: Int) { turn.spend(work) }

  /// Continues a reader in a later turn.
  func queue(_ reader: any CatchUpWaiting) {
    if turn.queue(reader) { askForTurn() }
  }

  private func askForTurn() {
    let bound = LoopBound(self, on: loop)
    loop.execute { bound.value.continueReaders() }
  }

  /// Continues the readers that wait, as far as this turn has room for them.
  private func continueReaders() {
    let readers = turn.begin(at: loop.now, bound)
    for (position, reader) in readers.enumerated() {
      guard mayWork else {
        if turn.putBack(readers[position...]) { askForTurn() }
        return
      }
      reader.isQueued = false
      reader.pump()
    }
  }
}
