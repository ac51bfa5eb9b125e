import MartletJSON
import MartletModels

/// A condition that some groups share. It is tried once per change, for all of them.
struct PredicateNode: ChangedInPlace {
  var interest: Interest
  /// Its branches' places in the channel's tables.
  var branches: [Int] = []
  var groups: [GroupID] = []
  /// The last event that the node matched: the second matching branch of an `or` finds it set.
  var markedAt = 0
  /// The fields that the condition reads, where it is judged by the record before an update too.
  private let fields: Set<Int>

  init(interest: Interest) {
    self.interest = interest
    fields = interest.judgement == .beforeAndAfter ? interest.predicate.fields : []
  }

  /// Whether the condition reads one of these fields.
  func reads(_ changed: Set<Int>) -> Bool { !fields.isDisjoint(with: changed) }
}

/// A branch of a node and where it stands, so that it can be taken out without a search.
struct PlacedBranch: ChangedInPlace {
  var node: Int
  var residue: Predicate
  var table: Int
  var values: [JSONValue]
  var position: Int
}

/// The branches of one signature: which of them ask for given values of the signature's fields.
struct SignatureTable {
  let fields: [Int]
  var buckets: [[JSONValue]: [Int]] = [:]

  /// The values a record has in the signature's fields, in the form of the keys.
  func key(of record: Record) -> [JSONValue] {
    fields.map { ValueOrder.key(record[$0]) }
  }
}

/// The tables of one channel. Tables without branches are dropped, so that no change pays for what once was.
struct ChannelTables {
  var tables: [SignatureTable?] = []
  var tableOfSignature: [[Int]: Int] = [:]
  /// Branches without an equality but with a residue.
  var scanned: [Int] = []
  /// Nodes that are judged by the record before an update too.
  var judgedByBoth = 0

  static let scannedTable = -1

  mutating func table(for fields: [Int]) -> Int {
    if let table = tableOfSignature[fields] { return table }
    let table = tables.firstIndex { $0 == nil } ?? tables.count
    if table == tables.count { tables.append(nil) }
    tables[table] = SignatureTable(fields: fields)
    tableOfSignature[fields] = table
    return table
  }

  mutating func dropIfEmpty(_ table: Int) {
    guard let signature = tables[table], signature.buckets.isEmpty else { return }
    tableOfSignature[signature.fields] = nil
    tables[table] = nil
    while let last = tables.last, last == nil { tables.removeLast() }
  }

  var isEmpty: Bool { tableOfSignature.isEmpty && scanned.isEmpty }
}

/// Values under numbers that are given again once free.
struct FreeList<Element: ChangedInPlace> {
  private(set) var elements: [Element?] = []
  private var free: [Int] = []

  mutating func insert(_ element: Element) -> Int {
    if let index = free.popLast() {
      elements[index] = element
      return index
    }
    elements.append(element)
    return elements.count - 1
  }

  mutating func remove(_ index: Int) {
    elements[index] = nil
    free.append(index)
  }

  func get(_ index: Int) -> Element? { elements[index] }

  /// Changes an element in place. It must be there: its number came from `insert` and has not been removed.
  mutating func update(_ index: Int, _ body: (inout Element) -> Void) {
    precondition(elements[index] != nil, "numbers of removed elements are not used again")
    elements[index]?.update(body)
  }
}

extension FreeList: Sendable where Element: Sendable {}

/// Lets optional chaining reach the value where it is; a pattern match would copy it and all it holds.
protocol ChangedInPlace {}

extension ChangedInPlace {
  mutating func update(_ body: (inout Self) -> Void) { body(&self) }
}
