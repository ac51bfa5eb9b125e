import MartletJSON
import MartletModels

/// What a node of the index stands for, within its channel.
struct Condition: Hashable {
  var predicate: Predicate
  var judgement: Judgement
}

/// A condition that some owners share. It is tried once per change, for all of them.
struct ConditionNode: ChangedInPlace {
  // In this order they fill each other's gaps.
  /// The last event that the node matched: the second matching branch of an `or` finds it set.
  var markedAt = 0
  let predicate: Predicate
  let channel: ChangeChannel
  let judgement: Judgement
  /// Its branches' places in the channel's tables.
  var branches = NumberList.none
  var owners = NumberList.none

  init(_ interest: Interest) {
    predicate = interest.predicate
    channel = interest.channel
    judgement = interest.judgement
  }

  var condition: Condition { Condition(predicate: predicate, judgement: judgement) }
}

/// A branch of a node and where it stands, so that it can be taken out without a search.
struct PlacedBranch: ChangedInPlace {
  let node: Int32
  var table = ChannelTables.scannedTable
  var position: Int32 = 0
  var residue: Predicate
  /// What the fields of its table must equal.
  var key = RecordKey(values: [])

  init(node: Int, residue: Predicate) {
    self.node = Int32(truncatingIfNeeded: node)
    self.residue = residue
  }
}

/// The branches of one signature: which of them ask for given values of the signature's fields.
struct SignatureTable {
  let fields: [Int]
  /// By the values of the fields, which for one field are not a list: each change makes two of these.
  var buckets: [RecordKey: NumberList] = [:]

  /// The values a record has in the signature's fields, in the form of the keys.
  func key(of record: Record) -> RecordKey {
    if fields.count == 1 { return RecordKey(ValueOrder.key(record[fields[0]])) }
    return RecordKey(values: fields.map { ValueOrder.key(record[$0]) })
  }
}

/// The tables of one channel. Tables without branches are dropped, so that no change pays for what once was.
struct ChannelTables {
  /// The node of each condition.
  var nodes: [Condition: Int32] = [:]
  var tables: [SignatureTable?] = []
  var tableOfSignature: [[Int]: Int] = [:]
  /// Branches without an equality but with a residue.
  var scanned: [Int] = []
  /// Nodes that are judged by the record before an update too.
  var judgedByBoth = 0

  static let scannedTable: Int32 = -1

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

  var isEmpty: Bool { nodes.isEmpty }
}
