import MartletServer
import MartletVocabulary
import Testing

/// Which clients are waited for, and until when: by transcript.
@Suite struct LeaseTests {
  private func leases(_ step: Duration = .milliseconds(250), most: Int = 10_000) -> TreeLeases {
    let leases = TreeLeases(step: step, most: most)
    leases.adopt([:], at: .zero, grace: .zero)
    return leases
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func due(_ owner: String, _ grace: Int64) -> TreeLeases.Due { TreeLeases.Due(owner: owner, grace: grace) }

  @Test func `what was left without a grace is due at once, the rest after its grace`() {
    let leases = leases()
    leases.attach("ada")
    leases.granted("ada", grace: 0)
    leases.granted("ada", grace: 1_000)
    leases.detach("ada", at: at(100))
    #expect(leases.begin(at: at(100)) == [due("ada", 0)])
    leases.ended()
    // The first waits a step longer, for others that end with it.
    #expect(leases.deadline == at(1_350))
    #expect(leases.begin(at: at(1_349)) == [])
    #expect(leases.begin(at: at(1_350)) == [due("ada", 1_000)])
    leases.ended()
    #expect(leases.deadline == nil)
    #expect(!leases.hasWrites("ada"))
  }

  @Test func `a client that comes back in time keeps what it has left, however often`() {
    let leases = leases()
    leases.attach("ada")
    leases.granted("ada", grace: 500)
    for round in 0..<3 {
      let start = Int64(round) * 400
      leases.detach("ada", at: at(start))
      leases.attach("ada")
      #expect(leases.begin(at: at(start + 399)) == [])
    }
    #expect(leases.begin(at: at(10_000)) == [])
    leases.detach("ada", at: at(10_000))
    #expect(leases.begin(at: at(10_750)) == [due("ada", 500)])
  }

  @Test func `a client with two connections is here until both have ended`() {
    let leases = leases()
    leases.attach("ada")
    leases.granted("ada", grace: 0)
    leases.attach("ada")
    leases.detach("ada", at: at(0))
    #expect(leases.begin(at: at(5)) == [])
    leases.detach("ada", at: at(10))
    #expect(leases.begin(at: at(10)) == [due("ada", 0)])
  }

  @Test func `five thousand clients that are lost together are due together`() {
    let leases = leases()
    for number in 0..<5_000 {
      leases.attach("c\(number)")
      leases.granted("c\(number)", grace: 2_000)
    }
    // Their sockets are found closed one after the other, within a fifth of a second, whenever that begins.
    for number in 0..<5_000 { leases.detach("c\(number)", at: at(10_120 + Int64(number) / 25)) }
    #expect(leases.begin(at: at(12_369)) == [])
    #expect(leases.deadline == at(12_370))
    #expect(leases.begin(at: at(12_370)).count == 5_000)
    #expect(leases.deadline == nil)
  }

  @Test func `a client that is lost later than a step after the first is due with it`() {
    let leases = leases()
    for (name, time) in [("a", 0), ("b", 250), ("c", 251), ("d", 100)] as [(String, Int64)] {
      leases.attach(name)
      leases.granted(name, grace: name == "d" ? 5_000 : 1_000)
      leases.detach(name, at: at(time))
    }
    #expect(leases.begin(at: at(1_250)) == [due("a", 1_000), due("b", 1_000)])
    leases.ended()
    #expect(leases.deadline == at(1_501))
    #expect(leases.begin(at: at(1_501)) == [due("c", 1_000)])
    leases.ended()
    #expect(leases.deadline == at(5_350))
  }

  @Test func `what becomes due during a commit goes into the next one`() {
    let leases = leases(most: 2)
    for name in ["a", "b", "c"] {
      leases.attach(name)
      leases.granted(name, grace: 0)
      leases.detach(name, at: at(0))
    }
    #expect(leases.begin(at: at(0)).count == 2)
    #expect(leases.begin(at: at(0)) == [])
    #expect(leases.deadline == nil)
    leases.ended()
    #expect(leases.begin(at: at(0)).count == 1)
  }

  @Test func `a commit that failed is tried again`() {
    let leases = leases()
    leases.attach("ada")
    leases.granted("ada", grace: 0)
    leases.detach("ada", at: at(0))
    let failed = leases.begin(at: at(0))
    leases.ended(failed: failed, later: at(1_000))
    #expect(leases.begin(at: at(999)) == [])
    #expect(leases.begin(at: at(1_000)) == failed)
  }

  @Test func `clients of an earlier process are waited for, and longer where they asked for it`() {
    let leases = TreeLeases(step: .milliseconds(1), most: 100)
    // Before the store has answered, a client that comes back is believed.
    #expect(leases.hasWrites("ada"))
    leases.attach("ada")
    leases.adopt(["ada": [0], "bob": [0, 60_000]], at: at(0), grace: .seconds(30))
    #expect(leases.begin(at: at(29_999)) == [])
    #expect(leases.begin(at: at(30_001)) == [due("bob", 0)])
    leases.ended()
    #expect(leases.begin(at: at(60_001)) == [due("bob", 60_000)])
    leases.ended()
    leases.detach("ada", at: at(70_000))
    #expect(leases.begin(at: at(70_000)) == [due("ada", 0)])
  }
}
