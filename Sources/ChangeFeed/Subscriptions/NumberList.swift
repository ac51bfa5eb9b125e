/// Numbers without an order, mostly one: a list of one is not on the heap.
package enum NumberList: Sendable, Hashable {
  case none
  case one(Int)
  case many([Int])

  package var isEmpty: Bool { count == 0 }

  package var count: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .many(let numbers): numbers.count
    }
  }

  /// The number at a position below `count`.
  package subscript(position: Int) -> Int {
    switch self {
    case .none: preconditionFailure("a position is below the list's count")
    case .one(let number): number
    case .many(let numbers): numbers[position]
    }
  }

  /// Adds a number at the end.
  package mutating func append(_ number: Int) {
    switch consume self {
    case .none: self = .one(number)
    case .one(let first): self = .many([first, number])
    case .many(var numbers):
      numbers.append(number)
      self = .many(numbers)
    }
  }

  /// Removes a number by moving the last into its position; the moved one, if any.
  package mutating func removeSwapping(_ position: Int) -> Int? {
    switch consume self {
    case .none: preconditionFailure("a position is below the list's count")
    case .one:
      self = .none
      return nil
    case .many(var numbers):
      numbers.swapAt(position, numbers.count - 1)
      numbers.removeLast()
      let moved = position < numbers.count ? numbers[position] : nil
      self = numbers.isEmpty ? .none : numbers.count == 1 ? .one(numbers[0]) : .many(numbers)
      return moved
    }
  }
}

extension NumberList {
  /// Calls `body` with each number.
  package func forEach(_ body: (Int) -> Void) {
    switch self {
    case .none: break
    case .one(let number): body(number)
    case .many(let numbers): for number in numbers { body(number) }
    }
  }
}
