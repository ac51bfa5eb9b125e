import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Outcomes of numbered writes: remembered until acknowledged, or until their client expires.
struct WriteNumberTests {
  private func request(
    _ number: Int64, _ identity: String = "", acknowledged: Int64? = nil, isResend: Bool = false
  ) -> WriteRequest {
    WriteRequest(
      .create(model: Models.flight, record: Models.flight("\(identity)\(number)")),
      writeNumber: WriteNumber(client: "c", number: number, identity: identity), acknowledged: acknowledged,
      isResend: isResend)
  }

  private func code(_ fixture: StoreFixture, _ request: WriteRequest) throws -> StoreError.Code? {
    try #require(try fixture.commit([request]).first).errorCode
  }

  @Test func `an acknowledged outcome is forgotten, and its number is never applied again`() throws {
    let fixture = try StoreFixture()
    for number in Int64(1)...3 { #expect(try code(fixture, request(number, acknowledged: 0)) == nil) }
    #expect(try fixture.commit([request(2, acknowledged: 0)]).first?.get().isRepeat == true)
    #expect(try code(fixture, request(4, acknowledged: 2)) == nil)
    #expect(try fixture.rows("martlet_outcomes") == 2)
    let head = fixture.store.position.head
    #expect(try code(fixture, request(2, acknowledged: 2)) == .outcomeForgotten)
    #expect(try code(fixture, request(1)) == .outcomeForgotten)
    #expect(try fixture.commit([request(3, acknowledged: 2)]).first?.get().isRepeat == true)
    #expect(fixture.store.position.head == head)
  }

  @Test func `another identity's write with the same client and number is another write`() throws {
    let fixture = try StoreFixture()
    #expect(try code(fixture, request(1, "anna")) == nil)
    #expect(try fixture.commit([request(1, "berta")]).first?.get().isRepeat == false)
    #expect(try fixture.commit([request(1, "anna")]).first?.get().isRepeat == true)
  }

  @Test func `a client that acknowledges nothing is refused as overload, and continues after it does`() throws {
    var limits = StoreLimits()
    limits.unacknowledgedWrites = 3
    let fixture = try StoreFixture(limits: limits)
    for number in Int64(1)...3 { #expect(try code(fixture, request(number, acknowledged: 0)) == nil) }
    #expect(try code(fixture, request(4, acknowledged: 0)) == .overloaded)
    #expect(try code(fixture, request(4, acknowledged: 1)) == nil)
  }

  @Test func `of a client that does not acknowledge at all the newest outcomes are kept`() throws {
    var limits = StoreLimits()
    limits.unacknowledgedWrites = 3
    let fixture = try StoreFixture(limits: limits)
    for number in Int64(1)...20 { #expect(try code(fixture, request(number)) == nil) }
    #expect(try fixture.rows("martlet_outcomes") == 3)
    #expect(try fixture.commit([request(18)]).first?.get().isRepeat == true)
    #expect(try code(fixture, request(17)) == .outcomeForgotten)
  }

  @Test func `an expired client's marked resend is refused, and what is not marked is a new write`() throws {
    let fixture = try StoreFixture()
    try fixture.commit([request(1)])
    fixture.clock.advance(31 * 86_400_000)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(try fixture.rows("martlet_clients") == 0)
    #expect(try code(fixture, request(1, isResend: true)) == .outcomeForgotten)
    #expect(try code(fixture, request(2, isResend: true)) == .outcomeForgotten)
    #expect(try fixture.commit([request(3)]).first?.get().isRepeat == false)
    // Known again, so its resends are answered.
    #expect(try fixture.commit([request(3, isResend: true)]).first?.get().isRepeat == true)
  }

  @Test func `the clients that wrote longest ago expire when there are too many`() throws {
    var limits = StoreLimits()
    limits.writeClients = 2
    let fixture = try StoreFixture(limits: limits)
    for name in ["a", "b", "c", "d"] {
      fixture.clock.advance(1)
      try fixture.commit([request(1, name)])
    }
    fixture.store.maintain()
    fixture.writer.run()
    #expect(try fixture.rows("martlet_clients") == 2)
    #expect(try code(fixture, request(1, "b")) == .alreadyExists)
    #expect(try fixture.commit([request(1, "c")]).first?.get().isRepeat == true)
  }

  @Test func `a remembered conflict names the record that stood in the way`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("1")))
    let first = try #require(try fixture.commit([request(1)]).first)
    let again = try #require(try fixture.commit([request(1)]).first)
    #expect(throws: StoreError(.alreadyExists, "a Flight with this key exists already", conflict("1", 1))) {
      try first.get()
    }
    #expect(first == again)
  }

  private func conflict(_ id: String, _ version: Int64) -> StoreError.Conflict {
    StoreError.Conflict(model: Models.flight, key: Models.key(.string(id)), version: version)
  }

  @Test func `a group of refusals only is a group of the log`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("1")))
    let head = fixture.store.position.head
    try fixture.commit([request(1), request(1)])
    #expect(fixture.store.position.head == head + 1)
    #expect(fixture.recorder.batches.last?.changes.isEmpty == true)
    #expect(fixture.recorder.batches.last?.lastOffset == head + 1)
  }

  @Test func `an outcome that is larger than an entry takes several, and a resend gets all of it`() throws {
    var limits = StoreLimits()
    limits.outcomeBytes = 300
    let files = MemoryFiles()
    let fixture = try StoreFixture(files: files, limits: limits)
    let head = fixture.store.position.head
    let write = WriteRequest(
      .batch((0..<60).map { .create(model: Models.flight, record: Models.flight("a long key \($0)")) }),
      writeNumber: WriteNumber(client: "c", number: 1, identity: "i"))
    let receipt = try #require(try fixture.commit([write, write]).last).get()
    #expect(receipt.isRepeat && receipt.records.count == 60)
    let parts = fixture.store.position.head - head - 60
    #expect(parts > 3)
    #expect(receipt.offsets == (head + parts + 1)...(head + parts + 60))
    #expect(try fixture.log(after: head).count == 60)
    let again = try #require(try StoreFixture(files: files, term: 2, limits: limits).commit([write]).first).get()
    #expect(again == receipt)
    let report = try Store.check(MemoryFiles(files.contents))
    #expect(report.findings == [] && report.wasFolded)
  }

  @Test func `a refusal that is larger than an entry takes several, and a resend gets all of it`() throws {
    var limits = StoreLimits()
    limits.outcomeBytes = 300
    let files = MemoryFiles()
    let fixture = try StoreFixture(files: files, limits: limits)
    let id = String(repeating: "k", count: 2_000)
    try fixture.commit(.create(model: Models.flight, record: Models.flight(id)))
    let head = fixture.store.position.head
    // The identity alone is larger than an entry should be.
    let write = WriteRequest(
      .create(model: Models.flight, record: Models.flight(id)),
      writeNumber: WriteNumber(client: "c", number: 1, identity: String(repeating: "i", count: 400)))
    let other = WriteRequest(.create(model: Models.flight, record: Models.flight("b")))
    let results = try fixture.commit([write, other, write])
    #expect(results.map(\.errorCode) == [.alreadyExists, nil, .alreadyExists])
    let refusals = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    #expect(refusals.map(\.conflict?.key) == [Models.key(.string(id)), Models.key(.string(id))])
    #expect(fixture.store.position.head - head > 4)
    let again = try #require(try StoreFixture(files: files, term: 2, limits: limits).commit([write]).first)
    #expect(throws: refusals[0]) { try again.get() }
    let report = try Store.check(MemoryFiles(files.contents))
    #expect(report.findings == [] && report.wasFolded)
  }

  @Test func `clients beyond the limit expire when groups and writes in between have failed`() throws {
    var limits = StoreLimits()
    limits.writeClients = 3
    let fixture = try StoreFixture(limits: limits)
    func look() throws {
      fixture.store.maintain()
      fixture.writer.run()
    }
    for round in 0..<12 {
      fixture.clock.advance(1)
      // A write that fails after its outcome was folded, then one that is refused, then one that is applied.
      let large = WriteRequest(
        .batch([
          .create(model: Models.flight, record: Models.flight("x")),
          .create(model: Models.flight, record: Models.flight("y", code: String(repeating: "z", count: 1 << 20))),
        ]), writeNumber: WriteNumber(client: "large\(round)", number: 1))
      try fixture.commit([large])
      fixture.files.setCapacity(fixture.files.totalBytes)
      #expect(try fixture.commit([request(1, "full\(round)")]).first?.errorCode == .diskFull)
      fixture.files.setCapacity(nil)
      try fixture.commit([request(1, "new\(round)")])
      try look()
      #expect(try fixture.rows("martlet_clients") <= 3 + 1)
    }
    try look()
    // Clients of one moment expire together.
    #expect((1...3).contains(try fixture.rows("martlet_clients")))
  }
}
