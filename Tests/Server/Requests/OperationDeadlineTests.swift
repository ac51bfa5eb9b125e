import MartletGraphQLExecution
import MartletRuntime
import MartletTestSupport
import MartletVocabulary
import Testing

@testable import MartletServer

@Suite struct OperationDeadlineTests {
  private let loop = ClockedLoop(StepLoop())

  /// An operation in a task that never answers; `ended` is called with its result.
  private func begin(
    _ deadlines: OperationDeadlines, until deadline: Instant, _ ended: @escaping (ResponseTree) -> Void
  ) -> RunningOperation {
    let operation = RunningOperation(nil, on: loop, until: deadline, deadlines, ended)
    operation.begin(SpawnedTask {})
    return operation
  }

  @Test func `operations that end in time set one timer`() {
    let deadlines = OperationDeadlines(on: loop)
    var results = 0
    for _ in 0..<1_000 {
      let operation = begin(deadlines, until: loop.now + .seconds(30)) { _ in results += 1 }
      loop.advanceNow(.milliseconds(1))
      operation.finish(ResponseTree(data: .null, errors: []))
    }
    #expect(results == 1_000)
    #expect(loop.scheduled == 1)
  }

  @Test func `an operation that has ended is released`() {
    let deadlines = OperationDeadlines(on: loop)
    let first = begin(deadlines, until: loop.now + .seconds(30)) { _ in }
    weak var released: RunningOperation?
    do {
      let second = begin(deadlines, until: loop.now + .seconds(30)) { _ in }
      released = second
      second.finish(ResponseTree(data: .null, errors: []))
    }
    #expect(released == nil)
    first.cancel()
  }

  @Test(arguments: 0..<20)
  func `each operation that has not ended expires at its deadline, and no other`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let deadlines = OperationDeadlines(on: loop)
    var model: [(operation: RunningOperation, number: Int, deadline: Instant)] = []
    var expired: [Int] = []
    var expected: [Int] = []
    for number in 0..<400 {
      let deadline = loop.now + .seconds(10)
      let operation = begin(deadlines, until: deadline) { result in
        if result.errors.first?.extensions["code"] == "DEADLINE" { expired.append(number) }
      }
      model.append((operation, number, deadline))
      for _ in 0..<Int.random(in: 0...2, using: &random) where !model.isEmpty {
        // Mostly new ones, so that some are left until their deadlines.
        let index = model.indices.suffix(5).randomElement(using: &random) ?? 0
        let ended = model.remove(at: index).operation
        if Bool.random(using: &random) { ended.cancel() } else { ended.finish(ResponseTree(data: .null, errors: [])) }
      }
      loop.advanceNow(.milliseconds(Int64.random(in: 0...200, using: &random)))
      expected += model.filter { $0.deadline <= loop.now }.map(\.number)
      model.removeAll { $0.deadline <= loop.now }
      #expect(expired == expected)
    }
    loop.advanceNow(.seconds(20))
    #expect(expired == expected + model.map(\.number))
  }
}
