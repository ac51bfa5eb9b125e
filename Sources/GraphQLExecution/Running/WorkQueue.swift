import MartletJSON

/// The calls of one execution: those that can be made and those under way.
struct WorkQueue {
  /// Calls that can be made at once.
  private var single: [FieldWork] = []
  /// Fields that wait for a call over all their parents, in order of first need.
  private var batches: [FieldWork] = []
  private var batchIndex: [ObjectIdentifier: Int] = [:]
  private var running: [Int: FieldWork] = [:]
  private var nextID = 0

  /// Whether no call waits or is under way.
  var isEmpty: Bool { running.isEmpty && !hasWaiting }

  /// Whether a call waits to be made.
  var hasWaiting: Bool { !(single.isEmpty && batches.isEmpty) }

  var hasRunning: Bool { !running.isEmpty }

  /// Adds a call that can be made at once.
  mutating func add(_ work: FieldWork) {
    single.append(work)
  }

  /// Adds a parent to the call over all parents of a field.
  mutating func addToBatch(
    _ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, _ context: RequestContext,
    at place: [ResultStep]
  ) {
    if let index = batchIndex[ObjectIdentifier(field)] {
      batches[index].places.append(place)
      batches[index].sources.append(source)
      return
    }
    batchIndex[ObjectIdentifier(field)] = batches.count
    batches.append(
      FieldWork(
        field: field, isBatch: true, arguments: arguments, context: context, sources: [source], places: [place],
        path: [], wanted: 0))
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
  mutating func begin(_ calls: inout [FieldWork]) {
    for index in calls.indices {
      calls[index].id = nextID
      running[nextID] = calls[index]
      nextID += 1
    }
  }

  /// The call whose answer has come; nil when nothing waits for it.
  mutating func finish(_ id: Int) -> FieldWork? {
    running.removeValue(forKey: id)
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
    running.removeAll()
  }
}
