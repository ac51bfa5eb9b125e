import MartletChannels
import MartletJSONTree
import MartletVocabulary
import Testing

/// Random runs with failures, refusals and restarts against what a list says.
@Suite struct DeliveryModelTests {
  /// The log, and which of its events the receiver got, in the order of their first arrivals.
  private struct World {
    var log: [ChannelTransaction] = []
    var received: [String] = []
    var machine: DeliveryMachine
    var durable: ChannelRecord
    var now: Int64 = 0
  }

  private static let policy: DeliveryPolicy = {
    var policy = DeliveryPolicy()
    policy.attempts = 3
    policy.queuedEvents = 4
    policy.deadLetters = 1_000_000
    policy.deadLetterBytes = .max / 2
    return policy
  }()

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `every event arrives or is a dead letter, first arrivals are in order, restarts lose nothing`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    func below(_ bound: UInt64) -> UInt64 { random.next() % bound }
    let first = ChannelRecord(offset: 0)
    var world = World(machine: DeliveryMachine(first, policy: Self.policy), durable: first)
    var chance = SeededRandom(seed: seed &+ 99)
    var offset: Int64 = 0
    for _ in 0..<400 {
      switch below(10) {
      case 0, 1:
        offset += Int64(1 + below(3))
        world.log.append(DeliveryMachineTests.transaction(offset, Int(below(4))))
      case 2:
        world.durable = world.machine.record
        world.machine.recording()
        world.machine.recorded(true)
      case 3 where below(4) == 0:
        // The process ends at any point: what was sent and not recorded is sent again.
        let bytes = world.durable.bytes
        guard let record = try? ChannelRecord(bytes) else {
          Issue.record("seed \(seed): the record cannot be read")
          return
        }
        world.machine = DeliveryMachine(record, policy: Self.policy)
      default: world.now += Int64(below(3_000))
      }
      Self.run(&world, { below(8) }, &chance)
    }
    // Everything works again, and whatever is left arrives.
    for _ in 0..<10_000 where world.machine.position < offset {
      world.now += 3_600_000
      world.machine.recording()
      world.machine.recorded(true)
      Self.run(&world, { 7 }, &chance)
    }
    var seen: Set<String> = []
    let arrivals = world.received.filter { seen.insert($0).inserted }
    let dead = Set(world.machine.deadLetters.map(\.event.id))
    let all = world.log.flatMap(\.events).map(\.id)
    #expect(world.machine.position == offset)
    #expect(arrivals == all.filter { seen.contains($0) })
    #expect(all.allSatisfy { seen.contains($0) || dead.contains($0) })
  }

  /// Follows the log and makes one step.
  private static func run(_ world: inout World, _ below: () -> UInt64, _ chance: inout SeededRandom) {
    for transaction in world.log where world.machine.hasRoom && transaction.offset > world.machine.followed {
      world.machine.append(transaction)
    }
    guard case .send(let event, _) = world.machine.next(at: world.now) else { return }
    switch below() {
    case 0: _ = world.machine.ended(.refused("no"), at: world.now, &chance)
    case 1, 2: _ = world.machine.ended(.failed("later", retryAfter: nil), at: world.now, &chance)
    case 3:
      // It arrived, and the answer was lost.
      world.received.append(event.id)
      _ = world.machine.ended(.failed("lost", retryAfter: nil), at: world.now, &chance)
    default:
      world.received.append(event.id)
      _ = world.machine.ended(.delivered, at: world.now, &chance)
    }
  }
}
