/// The operations of one server connection: ids by number and back. Numbers are never used twice.
struct ServerOperationTable: Sendable {
  /// From this many operations on, ids are found by hash. Most connections have one operation, and a server has many
  /// connections.
  private static let hashed = 9

  private var ids = NumberedTable<OperationID>()
  /// Every id's number, or nothing below `hashed` operations.
  private var numbers: [OperationID: Int] = [:]
  private var lastNumber = 0

  var count: Int { ids.count }

  func number(of id: OperationID) -> Int? {
    numbers.isEmpty ? ids.number { $0 == id } : numbers[id]
  }

  func id(of number: Int) -> OperationID? { ids[number] }

  /// The id must be free.
  mutating func reserve(_ id: OperationID) -> Int {
    lastNumber += 1
    ids[lastNumber] = id
    if !numbers.isEmpty {
      numbers[id] = lastNumber
    } else if ids.count >= Self.hashed {
      for (number, id) in ids.entries { numbers[id] = number }
    }
    return lastNumber
  }

  /// The operation's id, when it had not ended.
  mutating func remove(_ number: Int) -> OperationID? {
    guard let id = ids.remove(number) else { return nil }
    numbers[id] = nil
    return id
  }

  var numbersInOrder: [Int] { ids.numbers }

  /// Every number, in order, and none afterwards.
  mutating func removeAll() -> [Int] {
    defer {
      ids = NumberedTable()
      numbers = [:]
    }
    return ids.numbers
  }
}
