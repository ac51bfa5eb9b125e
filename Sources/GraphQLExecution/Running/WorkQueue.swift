import MartletJSON

/// The calls of one execution: those that can be made and those under way.
struct WorkQueue {
  /// Calls that can be made at once.
  private var single: [FieldWork] = []
  /// Fields that wait for a call over all their parents, in order of first need.
  private var batches: [FieldWork] = []
  /// The position of each field's call in `batches`, kept only above `scanned` calls.
  private var batchIndex: [ObjectIdentifier: Int] = [:]
  /// The calls since none was under way, by their number from `firstRunning` on; nil for those that have answered.
  private var running: [FieldWork?] = []
  private var firstRunning = 0
  private var runningCount = 0

  private static let scanned = 4

  /// Whether no call waits or is under way.
  var isEmpty: Bool { !hasRunning && !hasWaiting }

  /// Whether a call waits to be made.
  var hasWaiting: Bool { !(single.isEmpty && batches.isEmpty) }

  var hasRunning: Bool { runningCount > 0 }

  /// Adds a call that can be made at once.
  mutating func add(_ work: FieldWork) {
    single.append(work)
  }

  /// Adds a parent to the call over all parents of a field.
  mutating func addToBatch(
    _ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, _ context: RequestContext,
    at place: [ResultStep]
  ) {
    if let index = position(of: field) {
      batches[index].places.append(place)
      batches[index].sources.append(source)
      return
    }
    batches.append(
      FieldWork(
        field: field, isBatch: true, arguments: arguments, context: context, sources: [source], places: [place],
        path: [], wanted: 0))
    if batches.count == Self.scanned + 1 {
      for (index, batch) in batches.enumerated() { batchIndex[ObjectIdentifier(batch.field)] = index }
    } else if batches.count > Self.scanned {
      batchIndex[ObjectIdentifier(field)] = batches.count - 1
    }
  }

  private func position(of field: FieldPlan) -> Int? {
    if batches.count > Self.scanned { return batchIndex[ObjectIdentifier(field)] }
    return batches.firstIndex { $0.field === field }
  }

  /// Takes the calls that can be made at once.
  mutating func takeSingles() -> [FieldWork] {
    defer { single = [] }
    return single
  }

  /// Takes the calls over all parents.
  mutating func takeBatches() -> [FieldWork] {
    defer {
      batches = []
      batchIndex.removeAll()
    }
    return batches
  }

  /// Numbers calls that are about to be made.
  mutating func begin(_ calls: [FieldWork]) {
    for call in calls {
      call.id = firstRunning + running.count
      running.append(call)
    }
    runningCount += calls.count
  }

  /// The call whose answer has come; nil when nothing waits for it.
  mutating func finish(_ id: Int) -> FieldWork? {
    let index = id - firstRunning
    guard running.indices.contains(index), let work = running[index] else { return nil }
    running[index] = nil
    runningCount -= 1
    if runningCount == 0 { forgetRunning() }
    return work
  }

  private mutating func forgetRunning() {
    firstRunning += running.count
    running.removeAll(keepingCapacity: true)
    runningCount = 0
  }

  /// Forgets the calls that have not been made.
  mutating func dropWaiting() {
    single.removeAll()
    batches.removeAll()
    batchIndex.removeAll()
  }

  /// Forgets all calls: answers to those under way are ignored.
  mutating func dropAll() {
    dropWaiting()
    forgetRunning()
  }
}
