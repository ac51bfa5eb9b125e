import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// A store that follows another one's log, on an imaginary disk, whose executors the test runs.
final class Follower {
  let files: MemoryFiles
  let store: Store
  let recorder = Recorder()
  private let writer = ManualExecutor()
  private let reader = ManualExecutor()

  init(files: MemoryFiles, shapes: [RecordShape], limits: StoreLimits = StoreLimits()) throws {
    self.files = files
    // Its clock is far from the authority's: no answer may depend on it.
    var options = StoreOptions(term: 0, clock: ManualClock(7).clock, writer: writer, readers: [reader])
    options.limits = limits
    store = try Store(following: .memory(files), shapes: shapes, options: options)
    store.register(recorder)
  }

  func fold(_ group: [UInt8]) throws -> Result<LogPosition, StoreError> {
    let box = Box<LogPosition>()
    store.fold(group) { result in box.value.withLock { $0 = result } }
    writer.run()
    return try #require(box.value.withLock { $0 })
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Value
  ) throws -> Value {
    let box = Box<Value>()
    store.read([ReadRequest(read: body) { result in box.value.withLock { $0 = result } }], to: DirectDestination())
    reader.run()
    return try #require(box.value.withLock { $0 }).get()
  }
}

/// What one store answers, as text that can be compared.
enum Answers {
  /// Every record of every model, and the changes after some offsets.
  static func reads(_ snapshot: ReadSnapshot, models: Int, after offsets: [Int64]) throws(StoreError) -> [String] {
    var answers: [String] = []
    for model in 0..<models {
      for stored in try snapshot.list(ListQuery(model: model, limit: 1_000)).records { answers.append("\(stored)") }
      answers += try pages(snapshot, ListQuery(model: model, limit: 2))
      answers.append("count \(try snapshot.count(model, where: .all) ?? -1)")
      for deleted in try snapshot.tombstones(model, since: 0, after: nil, count: 1_000) { answers.append("\(deleted)") }
    }
    // In the order of an index, of another field, and the children of each parent.
    answers += try pages(
      snapshot, ListQuery(model: Models.flight, equal: [(1, "origin0")], order: [order(2)], limit: 1))
    answers += try pages(snapshot, ListQuery(model: Models.mixed, order: [order(3), order(2)], limit: 2))
    let parents = ChildrenQuery(
      model: Models.leg, reference: [0], parents: (0..<4).map { [.string("flight\($0)")] }, limit: 1)
    answers += try snapshot.children(parents).map { "\($0)" }
    let moment = try snapshot.moment()
    answers.append("\(moment)")
    for age in [0, 100_000, 250_000, 500_000] as [Int64] {
      answers.append("before \(age): \(String(describing: try snapshot.offset(before: moment.time - age)))")
    }
    answers.append("\(try snapshot.tree.node(at: .root).exportedJSON())")
    for owner in try snapshot.deferredOwners() { answers.append("\(try snapshot.deferredWrites(of: owner))") }
    answers.append("\(try snapshot.definitions("kind"))")
    for offset in offsets {
      switch try snapshot.log(after: offset, changes: 5) {
      case .gap(let reason): answers.append("after \(offset): \(reason)")
      case .damaged(let entry, let reason): answers.append("after \(offset): \(entry) is damaged: \(reason)")
      case .changes(let changes, let through, let head, let lost):
        let losses = lost.sorted { $0.key < $1.key }.map { "\($0.key) up to \($0.value)" }
        answers.append("after \(offset): through \(through) of \(head), lost \(losses)")
        for change in changes { answers.append(describe(change)) }
      }
    }
    return answers
  }

  /// All pages of a list, with their tokens.
  private static func pages(_ snapshot: ReadSnapshot, _ query: ListQuery) throws(StoreError) -> [String] {
    var query = query
    var answers: [String] = []
    repeat {
      let page = try snapshot.list(query)
      answers.append("\(page)")
      query.token = page.token
    } while query.token != nil
    return answers
  }

  private static func order(_ field: Int) -> SortOrder { SortOrder(field: field, isAscending: false) }

  static func describe(_ change: Change) -> String {
    "\(change.offset) \(change.endsTransaction) \(change.body)"
  }

  static func describe(_ result: Result<Receipt, StoreError>) -> String {
    switch result {
    case .success(let receipt): "\(receipt)"
    case .failure(let error): "\(error.code) \(error.message) \(String(describing: error.conflict))"
    }
  }
}
