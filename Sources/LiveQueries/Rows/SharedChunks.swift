/// An ordered collection in pieces that its copies share.
///
/// A copy costs two references. A change copies the piece it falls into and the list of pieces, and leaves the other
/// pieces shared with earlier copies. A snapshot of 10,000 rows is taken in constant time.
package struct SharedChunks<Element> {
  /// The pieces, none of them empty.
  private var chunks: [ContiguousArray<Element>] = []
  /// The index of each piece's first element; empty while there are few pieces, which are counted then.
  private var starts: [Int] = []
  /// How many elements there are.
  package private(set) var count = 0

  /// Elements in a piece at most. A change of a window copies one piece and references to a few others; of 10,000 rows
  /// one piece and some 200 references. Each piece costs 48 bytes besides.
  private static var largest: Int { 64 }
  /// Pieces that are counted when an index is looked for.
  private static var fewChunks: Int { 8 }
  /// Room for more elements in a piece that grows. An array would double it.
  private static var room: Int { 4 }

  /// An empty collection.
  package init() {}

  /// The elements of a sequence, in its order.
  package init(_ elements: some Sequence<Element>) {
    let all = ContiguousArray(elements)
    // Pieces have just the room they need.
    chunks.reserveCapacity((all.count + Self.filled - 1) / Self.filled)
    for start in stride(from: 0, to: all.count, by: Self.filled) {
      chunks.append(ContiguousArray(all[start..<Swift.min(start + Self.filled, all.count)]))
    }
    renumber(from: 0)
  }

  /// Pieces as they are, without copying their elements: not empty, of at most `filled` elements, and with no more room
  /// than these need.
  package init(pieces: [ContiguousArray<Element>]) {
    chunks.reserveCapacity(pieces.count)
    chunks += pieces
    renumber(from: 0)
  }

  /// How full pieces are made, so that insertions do not split them at once.
  package static var filled: Int { largest * 3 / 4 }

  /// Replaces the element at `index`.
  package mutating func replace(at index: Int, with element: Element) {
    let (chunk, start) = chunk(of: index)
    chunks[chunk][index - start] = element
  }

  /// Inserts an element before the one at `index`, or at the end.
  package mutating func insert(_ element: Element, at index: Int) {
    precondition(index >= 0 && index <= count, "an element is inserted within the collection or at its end")
    if chunks.isEmpty {
      chunks.append([element])
      return renumber(from: 0)
    }
    let last = chunks.count - 1
    let (chunk, start) = index == count ? (last, count - chunks[last].count) : chunk(of: index)
    if chunks[chunk].count == chunks[chunk].capacity {
      chunks[chunk].reserveCapacity(chunks[chunk].count + Self.room)
    }
    chunks[chunk].insert(element, at: index - start)
    if chunks[chunk].count > Self.largest { split(chunk) }
    renumber(from: chunk)
  }

  private mutating func split(_ chunk: Int) {
    let half = chunks[chunk].count / 2
    let tail = ContiguousArray(chunks[chunk][half...])
    chunks[chunk].removeSubrange(half...)
    chunks.insert(tail, at: chunk + 1)
  }

  /// Removes the element at `index`.
  @discardableResult
  package mutating func remove(at index: Int) -> Element {
    let (chunk, start) = chunk(of: index)
    let removed = chunks[chunk].remove(at: index - start)
    if chunks[chunk].isEmpty {
      chunks.remove(at: chunk)
    } else if chunk + 1 < chunks.count, chunks[chunk].count + chunks[chunk + 1].count <= Self.largest / 2 {
      chunks[chunk].append(contentsOf: chunks[chunk + 1])
      chunks.remove(at: chunk + 1)
    }
    renumber(from: chunk)
    return removed
  }

  /// Adds elements at the end.
  package mutating func append(contentsOf elements: some Sequence<Element>) {
    let from = chunks.count
    chunks.append(contentsOf: SharedChunks(elements).chunks)
    renumber(from: from)
  }

  /// Inserts elements at the front.
  package mutating func prepend(_ elements: some Sequence<Element>) {
    chunks.insert(contentsOf: SharedChunks(elements).chunks, at: 0)
    renumber(from: 0)
  }

  /// Removes the first `number` elements.
  package mutating func removeFirst(_ number: Int) {
    var left = number
    var whole = 0
    while whole < chunks.count, chunks[whole].count <= left {
      left -= chunks[whole].count
      whole += 1
    }
    chunks.removeSubrange(..<whole)
    if left > 0, !chunks.isEmpty { chunks[0].removeFirst(left) }
    renumber(from: 0)
  }

  /// Removes the last `number` elements.
  package mutating func removeLast(_ number: Int) {
    var left = number
    while let last = chunks.last, last.count <= left {
      left -= last.count
      chunks.removeLast()
    }
    if left > 0, !chunks.isEmpty { chunks[chunks.count - 1].removeLast(left) }
    renumber(from: chunks.count)
  }

  private mutating func renumber(from chunk: Int) {
    if chunks.count <= Self.fewChunks {
      starts = []
      count = chunks.reduce(0) { $0 + $1.count }
      return
    }
    starts.removeSubrange(Swift.min(chunk, starts.count)...)
    var next = chunk == 0 ? 0 : starts.isEmpty ? 0 : starts[starts.count - 1] + chunks[starts.count - 1].count
    for number in starts.count..<chunks.count {
      starts.append(next)
      next += chunks[number].count
    }
    count = next
  }

  /// The index of the first element that is not before something; `isBefore` is true for those in front of it.
  package func partition(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, chunks.count)
    // The last piece whose first element is before it has the place, or ends at it.
    while low < high {
      let middle = (low + high) / 2
      if isBefore(chunks[middle][0]) { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return 0 }
    let chunk = low - 1
    (low, high) = (1, chunks[chunk].count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(chunks[chunk][middle]) { low = middle + 1 } else { high = middle }
    }
    return start(of: chunk) + low
  }

  /// The elements in a range, without a search for each.
  package func elements(in range: Range<Int>) -> ContiguousArray<Element> {
    var elements: ContiguousArray<Element> = []
    elements.reserveCapacity(range.count)
    forEachPart(of: range) { piece, places in elements += piece[places] }
    return elements
  }

  /// Those of the elements in a range that `isIncluded` is true for.
  package func elements(in range: Range<Int>, where isIncluded: (Element) -> Bool) -> ContiguousArray<Element> {
    var elements: ContiguousArray<Element> = []
    forEachPart(of: range) { piece, places in
      for place in places where isIncluded(piece[place]) { elements.append(piece[place]) }
    }
    return elements
  }

  private func forEachPart(of range: Range<Int>, _ body: (ContiguousArray<Element>, Range<Int>) -> Void) {
    guard !range.isEmpty else { return }
    var (chunk, start) = chunk(of: range.lowerBound)
    var next = range.lowerBound
    while next < range.upperBound {
      let high = Swift.min(chunks[chunk].count, range.upperBound - start)
      body(chunks[chunk], next - start..<high)
      next = start + high
      start += chunks[chunk].count
      chunk += 1
    }
  }

  /// The piece that has an index, and the index of its first element.
  private func chunk(of index: Int) -> (chunk: Int, start: Int) {
    precondition(index >= 0 && index < count, "an index is within the collection")
    if starts.isEmpty {
      var (chunk, start) = (0, 0)
      while index - start >= chunks[chunk].count {
        start += chunks[chunk].count
        chunk += 1
      }
      return (chunk, start)
    }
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle } else { high = middle }
    }
    return (low, starts[low])
  }

  private func start(of chunk: Int) -> Int {
    starts.isEmpty ? chunks[..<chunk].reduce(0) { $0 + $1.count } : starts[chunk]
  }
}

extension SharedChunks: RandomAccessCollection {
  /// Walks the elements without a search for each.
  package struct Iterator: IteratorProtocol {
    private let chunks: [ContiguousArray<Element>]
    private var chunk = 0
    private var index = 0

    fileprivate init(_ chunks: [ContiguousArray<Element>]) { self.chunks = chunks }

    package mutating func next() -> Element? {
      guard chunk < chunks.count else { return nil }
      let element = chunks[chunk][index]
      index += 1
      if index == chunks[chunk].count { (chunk, index) = (chunk + 1, 0) }
      return element
    }
  }

  package func makeIterator() -> Iterator { Iterator(chunks) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(index: Int) -> Element {
    let (chunk, start) = chunk(of: index)
    return chunks[chunk][index - start]
  }
}

extension SharedChunks: Sendable where Element: Sendable {}
