import MartletJSON
import MartletLiveQueries
import MartletModels
import Testing

@Suite struct QueryWindowTests {
  private static func value(_ row: LiveRow) -> Int64 { row.record[0].int ?? 0 }

  private static func serve(_ window: inout QueryWindow, _ values: [Int64]) -> [WindowRequest] {
    var requests: [WindowRequest] = []
    let sorted = values.sorted()
    while let request = window.request {
      requests.append(request)
      let answer: WindowRows
      switch request {
      case .page(let offset, let count):
        let rest = sorted.dropFirst(offset)
        let rows = (count.map { rest.prefix($0) } ?? rest).map { Numbers.row($0) }
        answer = WindowRows(rows, skipped: min(offset, sorted.count))
      case .after(let row, let count):
        answer = WindowRows(sorted.filter { $0 > Self.value(row) }.prefix(count).map { Numbers.row($0) })
      case .before(let row, let count):
        answer = WindowRows(sorted.filter { $0 < Self.value(row) }.suffix(count).map { Numbers.row($0) })
      }
      window.fill(answer, for: request)
    }
    return requests
  }

  @Test func `a page that loses a row takes the next from its margin and asks the store only when that is used up`() {
    var window = Numbers.window(limit: 3, margin: 2)
    var values = Array(Int64(1)...20)
    #expect(Self.serve(&window, values) == [.page(offset: 0, count: 5)])
    #expect(Numbers.values(window) == [1, 2, 3])
    for gone in Int64(1)...2 {
      values.removeFirst()
      window.apply(.left(Numbers.row(gone)))
      window.settle()
      #expect(window.request == nil)
      #expect(Numbers.values(window) == Array(values.prefix(3)))
    }
    values.removeFirst()
    window.apply(.left(Numbers.row(3)))
    window.settle()
    #expect(window.take() == nil, "no snapshot while rows are missing")
    #expect(Self.serve(&window, values) == [.after(Numbers.row(5), count: 3)])
    #expect(Numbers.values(window) == [4, 5, 6])
  }

  @Test func `rows that come and go before a page move its content by one`() {
    var window = Numbers.window(offset: 5, limit: 2, margin: 1)
    var values = Array(Int64(10)...40)
    _ = Self.serve(&window, values)
    #expect(Numbers.values(window) == [15, 16])
    values.append(1)
    window.apply(.entered(Numbers.row(1)))
    window.settle()
    #expect(window.request == nil)
    #expect(Numbers.values(window) == [14, 15])
    values.append(2)
    window.apply(.entered(Numbers.row(2)))
    window.settle()
    #expect(Self.serve(&window, values) == [.before(Numbers.row(14), count: 2)])
    #expect(Numbers.values(window) == [13, 14])
  }

  @Test func `a page after the last row fills as rows come`() {
    var window = Numbers.window(offset: 3, limit: 2, margin: 0)
    _ = Self.serve(&window, [1, 2])
    #expect(window.rows.isEmpty)
    var values: [Int64] = [1, 2]
    for value in [Int64(9), 5, 0] {
      values.append(value)
      window.apply(.entered(Numbers.row(value)))
      window.settle()
      _ = Self.serve(&window, values)
      #expect(Numbers.values(window) == Array(values.sorted().dropFirst(3).prefix(2)))
    }
  }

  @Test func `an answer to an earlier request is ignored`() throws {
    var window = Numbers.window(limit: 2, margin: 0)
    _ = Self.serve(&window, [1, 2, 3, 4, 5])
    window.apply(.left(Numbers.row(1)))
    window.settle()
    let first = try #require(window.request)
    window.apply(.left(Numbers.row(2)))
    window.settle()
    window.fill(WindowRows([Numbers.row(9)]), for: first)
    #expect(window.request != nil)
    #expect(Self.serve(&window, [3, 4, 5]).count == 1)
    #expect(Numbers.values(window) == [3, 4])
  }

  @Test func `changes say what was inserted, deleted, moved and updated, by index`() throws {
    var window = Numbers.window()
    _ = Self.serve(&window, [1, 2, 3, 4, 5])
    _ = window.take()
    window.apply(.left(Numbers.row(2)))
    window.apply(.entered(Numbers.row(0)))
    window.apply(.stayed(from: Numbers.row(3), to: Numbers.row(3, pending: true)))
    window.apply(.stayed(from: Numbers.row(1), to: Numbers.row(9, key: 1)))
    window.settle()
    let snapshot = window.take()
    let changes = try #require(snapshot).changes
    #expect(changes.deletions == [1])
    #expect(changes.insertions == [0])
    #expect(changes.updates == [1])
    #expect(changes.moves == [ChangeSet.Move(from: 0, to: 4)])
    #expect(Numbers.values(window) == [0, 3, 4, 5, 9])
  }

  @Test func `a change that is taken back before the snapshot gives no snapshot`() {
    var window = Numbers.window()
    _ = Self.serve(&window, [1, 2])
    _ = window.take()
    window.apply(.entered(Numbers.row(7)))
    window.apply(.left(Numbers.row(7)))
    window.settle()
    #expect(window.take() == nil)
  }

  @Test func `after missed changes the page is read again and compared row by row`() throws {
    var window = Numbers.window(limit: 3)
    _ = Self.serve(&window, [1, 2, 3, 4])
    _ = window.take()
    window.reload()
    _ = Self.serve(&window, [2, 3, 8])
    let snapshot = window.take()
    let changes = try #require(snapshot).changes
    #expect(changes.deletions == [0] && changes.insertions == [2] && changes.moves.isEmpty && changes.updates.isEmpty)
  }

  @Test func `changes that contradict the window make it read its page again`() {
    var window = Numbers.window(limit: 3)
    _ = Self.serve(&window, [1, 2, 3, 4])
    _ = window.take()
    window.apply(.left(Numbers.row(2, key: 77)))
    window.settle()
    #expect(Self.serve(&window, [1, 3, 4]) == [.page(offset: 0, count: 5)])
    #expect(Numbers.values(window) == [1, 3, 4])
  }
}
