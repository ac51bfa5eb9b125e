import MartletLiveQueries
import MartletSimulation
import Testing

@Suite struct SharedChunksTests {
  @Test func `shared chunks hold what an array with the same changes holds, and copies stay as they were`() {
    for seed in UInt64(1)...6 {
      var random = RandomPredicates(seed: seed)
      var array: [Int] = []
      var chunks = SharedChunks<Int>()
      var copies: [(SharedChunks<Int>, [Int])] = []
      for step in 0..<1_500 {
        switch random.count(below: 12) {
        case 0...5:
          let index = random.count(below: array.count + 1)
          array.insert(step, at: index)
          chunks.insert(step, at: index)
        case 6 where !array.isEmpty, 7 where !array.isEmpty:
          let index = random.count(below: array.count)
          #expect(chunks.remove(at: index) == array.remove(at: index))
        case 8 where !array.isEmpty:
          let index = random.count(below: array.count)
          array[index] = -step
          chunks.replace(at: index, with: -step)
        case 9:
          let more = Array(0..<random.count(below: 150))
          array += more
          chunks.append(contentsOf: more)
        case 10:
          let more = Array(0..<random.count(below: 100))
          array = more + array
          chunks.prepend(more)
        case 11 where !array.isEmpty:
          let (front, back) = (random.count(below: array.count), random.count(below: array.count))
          array.removeFirst(front)
          chunks.removeFirst(front)
          array.removeLast(min(back, array.count))
          chunks.removeLast(min(back, chunks.count))
        case _: copies.append((chunks, array))
        }
        #expect(chunks.count == array.count)
      }
      #expect(Array(chunks) == array)
      chunks = SharedChunks(array.sorted())
      for bound in [-2_000, -1, 0, 1, 75, 700, 2_000] {
        #expect(chunks.partition { $0 < bound } == array.count { $0 < bound })
      }
      for (copy, content) in copies { #expect(Array(copy) == content) }
    }
  }
}
