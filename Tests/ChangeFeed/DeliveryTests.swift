import MartletChangeFeed
import MartletModels
import MartletVocabulary
import Testing

@Suite struct DeliveryTests {
  /// A batch of transactions with the given numbers of changes.
  static func batch(from first: Int64, _ sizes: [Int], bytes: Int = 10) -> ChangeBatch {
    var changes: [Change] = []
    for size in sizes {
      for position in 1...size {
        changes.append(
          Change(
            offset: first + Int64(changes.count), endsTransaction: position == size,
            body: .record(
              RecordChange(
                kind: .create, model: 0, key: RecordKey(values: []), version: 1, image: Record(values: [])))))
      }
    }
    return ChangeBatch(
      changes: changes, firstOffset: first, lastOffset: first + Int64(changes.count) - 1, term: 1, byteCount: bytes)
  }

  // MARK: Lineage

  @Test func `restarts keep cursors and a restored copy ends those beyond it`() {
    var lineage = Lineage()
    lineage.begin(term: 0xA, at: 1)
    lineage.begin(term: 0xB, at: 101)
    func judge(_ term: UInt64, _ offset: Int64, firstKept: Int64 = 1, head: Int64 = 150) -> Resumption {
      lineage.judge(Cursor(term: term, offset: offset), firstKept: firstKept, head: head)
    }
    #expect(judge(0xA, 0) == .valid && judge(0xA, 100) == .valid && judge(0xB, 100) == .valid)
    #expect(judge(0xB, 150) == .valid && judge(0xB, 151) == .gap(.beyondTerm))
    // A client that saw 0xA up to 120 before the copy of offset 100 was restored.
    #expect(judge(0xA, 101) == .gap(.beyondTerm))
    #expect(judge(0xC, 5) == .gap(.unknownTerm))
    #expect(judge(0xA, 49, firstKept: 50) == .valid && judge(0xA, 48, firstKept: 50) == .gap(.retention))
    #expect(judge(0xA, -1) == .gap(.retention))
    #expect(judge(0xB, .max) == .gap(.beyondTerm) && judge(0xB, .min) == .gap(.retention))
    lineage.forget(before: 101)
    #expect(lineage.entries.map(\.term) == [0xB] && lineage.currentTerm == 0xB)
    #expect(judge(0xA, 100) == .gap(.unknownTerm))
  }

  @Test func `a run that wrote nothing keeps no cursor beyond its end`() {
    let lineage = Lineage([
      .init(term: 1, firstOffset: 1), .init(term: 2, firstOffset: 11), .init(term: 3, firstOffset: 11),
    ])
    #expect(lineage.judge(Cursor(term: 2, offset: 10), firstKept: 1, head: 20) == .valid)
    #expect(lineage.judge(Cursor(term: 2, offset: 11), firstKept: 1, head: 20) == .gap(.beyondTerm))
  }

  // MARK: Ring

  @Test func `the ring is bounded by bytes and says how far back it reaches`() {
    var ring = Ring(capacity: 30)
    #expect(ring.batches(after: 0, maximumBytes: 100) == nil)
    for number in 0..<100 { ring.append(Self.batch(from: Int64(number) * 2 + 1, [2])) }
    #expect(ring.count == 3 && ring.byteCount == 30 && ring.firstOffset == 195 && ring.lastOffset == 200)
    #expect(ring.batches(after: 193, maximumBytes: 100) == nil)
    #expect(ring.batches(after: 194, maximumBytes: 100)?.map(\.firstOffset) == [195, 197, 199])
    #expect(ring.batches(after: 195, maximumBytes: 15)?.map(\.firstOffset) == [195])
    #expect(ring.batches(after: 196, maximumBytes: 0)?.map(\.firstOffset) == [197])
    #expect(ring.batches(after: 200, maximumBytes: 100)?.isEmpty == true)
    let snapshot = ring
    ring.append(Self.batch(from: 201, [1], bytes: 1_000))
    #expect(ring.count == 0 && ring.byteCount == 0 && ring.firstOffset == nil)
    #expect(ring.batches(after: 200, maximumBytes: 100) == nil)
    #expect(snapshot.firstOffset == 195 && snapshot.count == 3)
    ring.append(Self.batch(from: 300, [1]))
    #expect(ring.firstOffset == 300 && ring.count == 1 && ring.byteCount == 10)
  }

  @Test func `a batch that has left the ring takes no memory`() {
    var ring = Ring(capacity: 25)
    weak var first: ChangeBatch?
    weak var third: ChangeBatch?
    for number in 0..<3 {
      let batch = Self.batch(from: Int64(number) + 1, [1])
      if number == 0 { first = batch }
      if number == 2 { third = batch }
      ring.append(batch)
    }
    #expect(first == nil && third != nil)
    #expect(ring.batches(after: 1, maximumBytes: 100)?.map(\.firstOffset) == [2, 3])
  }

  // MARK: Changes

  @Test func `the changes after an offset are those with larger offsets`() {
    let changes = Self.batch(from: 11, [1, 3, 2]).changes
    for offset in Int64(8)...18 {
      #expect(changes.after(offset).map(\.offset) == (11...16).filter { $0 > offset })
    }
    #expect([Change]().after(3).isEmpty)
  }

  // MARK: Catching up

  @Test func `a member reads the log, then the ring, then goes live without a hole`() {
    let lineage = Lineage([.init(term: 1, firstOffset: 1)])
    var ring = Ring(capacity: 30)
    for number in 0..<20 { ring.append(Self.batch(from: Int64(number) * 5 + 1, [2, 3])) }
    let situation = CatchUp.Situation(
      lineage: lineage, firstKept: 11, head: 100, applied: 95, ringFirst: ring.firstOffset)
    var cursor = Cursor(term: 1, offset: 10)
    var transcript: [CatchUp] = []
    var seen: [Int64] = []
    while transcript.count < 10 {
      let step = CatchUp.next(from: cursor, in: situation)
      transcript.append(step)
      switch step {
      case .live, .gap: break
      case .log(let after):
        seen += (after + 1)...(after + 75)
        cursor.offset = after + 75
        continue
      case .ring(let after):
        for batch in ring.batches(after: after, maximumBytes: 10) ?? [] {
          seen += batch.changes.after(after).map(\.offset)
          cursor.offset = batch.lastOffset
        }
        continue
      }
      break
    }
    #expect(transcript == [.log(after: 10), .ring(after: 85), .ring(after: 90), .live])
    #expect(seen == Array(11...95))
  }

  @Test func `a member ahead of its loop goes live, and one that cannot continue gets the reason`() {
    var situation = CatchUp.Situation(
      lineage: Lineage([.init(term: 4, firstOffset: 1)]), firstKept: 40, head: 100, applied: 90, ringFirst: nil)
    #expect(CatchUp.next(from: Cursor(term: 4, offset: 97), in: situation) == .live)
    #expect(CatchUp.next(from: Cursor(term: 4, offset: 50), in: situation) == .log(after: 50))
    #expect(CatchUp.next(from: Cursor(term: 4, offset: 38), in: situation) == .gap(.retention))
    #expect(CatchUp.next(from: Cursor(term: 4, offset: 101), in: situation) == .gap(.beyondTerm))
    #expect(CatchUp.next(from: Cursor(term: 9, offset: 50), in: situation) == .gap(.unknownTerm))
    situation.ringFirst = 95
    #expect(CatchUp.next(from: Cursor(term: 4, offset: 50), in: situation) == .log(after: 50))
  }

  @Test func `progress is that of the slowest member`() {
    #expect(Progress.position(applied: 90, catchingUp: []) == 90)
    #expect(Progress.position(applied: 90, catchingUp: [70, 95]) == 70)
  }
}
