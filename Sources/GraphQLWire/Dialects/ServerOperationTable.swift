/// The operations of one server connection: ids by number and back. Numbers are never used twice.
struct ServerOperationTable: Sendable {
  private var numbers: [OperationID: Int] = [:]
  private var ids: [Int: OperationID] = [:]
  private var lastNumber = 0

  var count: Int { ids.count }

  func number(of id: OperationID) -> Int? { numbers[id] }

  func id(of number: Int) -> OperationID? { ids[number] }

  /// The id must be free.
  mutating func reserve(_ id: OperationID) -> Int {
    lastNumber += 1
    numbers[id] = lastNumber
    ids[lastNumber] = id
    return lastNumber
  }

  /// The operation's id, when it had not ended.
  mutating func remove(_ number: Int) -> OperationID? {
    guard let id = ids.removeValue(forKey: number) else { return nil }
    numbers[id] = nil
    return id
  }

  var numbersInOrder: [Int] { ids.keys.sorted() }

  /// Every number, in order, and none afterwards.
  mutating func removeAll() -> [Int] {
    defer {
      ids = [:]
      numbers = [:]
    }
    return ids.keys.sorted()
  }
}
