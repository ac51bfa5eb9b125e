/// Values under numbers that are given again once free.
///
/// In pieces: an array of all would be moved as it grows, and have room for up to twice as many.
package struct FreeList<Element: ChangedInPlace> {
  private var pieces: [ContiguousArray<Element?>] = []
  private var free: [Int] = []
  /// Numbers that were given, free ones included.
  private var end = 0

  /// Elements in a piece.
  private static var size: Int { 32 }

  /// No values.
  package init() {}

  /// Takes a value, and returns its number.
  package mutating func insert(_ element: Element) -> Int {
    if let index = free.popLast() {
      pieces[index / Self.size][index % Self.size] = element
      return index
    }
    if end == pieces.count * Self.size {
      var piece = ContiguousArray<Element?>()
      piece.reserveCapacity(Self.size)
      pieces.append(piece)
    }
    pieces[end / Self.size].append(element)
    end += 1
    return end - 1
  }

  /// Removes a value that is there.
  package mutating func remove(_ index: Int) {
    pieces[index / Self.size][index % Self.size] = nil
    free.append(index)
  }

  /// The value under a number; nil when there is none.
  package subscript(index: Int) -> Element? {
    index >= 0 && index < end ? pieces[index / Self.size][index % Self.size] : nil
  }

  /// Reads a value where it is: a copy can cost more than what is read. Nil when there is none.
  package func read<Result>(_ index: Int, _ body: (Element) -> Result) -> Result? {
    guard index >= 0, index < end else { return nil }
    return pieces[index / Self.size][index % Self.size]?.read(body)
  }

  /// Changes a value in place. It must be there: its number came from `insert` and has not been removed.
  package mutating func update(_ index: Int, _ body: (inout Element) -> Void) {
    precondition(index >= 0 && index < end, "numbers come from this list")
    pieces[index / Self.size][index % Self.size]?.update(body)
  }

  /// The numbers of the values that are there, ascending.
  package var numbers: [Int] {
    (0..<end).filter { pieces[$0 / Self.size][$0 % Self.size] != nil }
  }

  /// How many values are there.
  package var count: Int { end - free.count }
}

extension FreeList: Sendable where Element: Sendable {}

/// Lets optional chaining reach the value where it is; a pattern match would copy it and all it holds.
package protocol ChangedInPlace {}

extension ChangedInPlace {
  package mutating func update(_ body: (inout Self) -> Void) { body(&self) }
  package func read<Result>(_ body: (Self) -> Result) -> Result { body(self) }
}
