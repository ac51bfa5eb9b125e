/// Values by operation number, in the numbers' order.
///
/// Operations of a connection are numbered upwards, so that a new one is appended. A hash table of one entry takes
/// three times the memory, for each of a server's connections.
package struct NumberedTable<Value> {
  package private(set) var entries: [(number: Int, value: Value)] = []

  package init() {}

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }
  package var numbers: [Int] { entries.map(\.number) }

  /// The lowest number whose value fulfils a condition.
  package func number(where isMeant: (Value) -> Bool) -> Int? {
    entries.first { isMeant($0.value) }?.number
  }

  package subscript(_ number: Int) -> Value? {
    get {
      let place = place(of: number)
      return place < entries.count && entries[place].number == number ? entries[place].value : nil
    }
    set {
      guard let newValue else {
        remove(number)
        return
      }
      let place = place(of: number)
      if place < entries.count, entries[place].number == number {
        entries[place].value = newValue
      } else {
        entries.insert((number, newValue), at: place)
      }
    }
  }

  /// Removes a value and returns it.
  @discardableResult
  package mutating func remove(_ number: Int) -> Value? {
    let place = place(of: number)
    guard place < entries.count, entries[place].number == number else { return nil }
    return entries.remove(at: place).value
  }

  /// Where a number stands, or would stand.
  private func place(of number: Int) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension NumberedTable: Sendable where Value: Sendable {}
