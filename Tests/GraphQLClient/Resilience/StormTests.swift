import MartletGraphQLClient
import MartletJSON
import MartletSimulation
import MartletTesting
import MartletVocabulary
import Testing

/// Thousands of subscriptions that come and go, with every frame looked at.
@Suite struct StormTests {
  /// The order each socket must keep: subscribe before complete, each once, ids rising, nothing before the
  /// initialisation. Answers the ids that were left open. (What is cancelled before the loop sees it gets no id.)
  private func open(_ stage: Stage, _ socket: Int) throws -> Set<Int> {
    var subscribed: Set<Int> = []
    var completed: Set<Int> = []
    var newest = 0
    for (place, text) in stage.server.sockets[socket].received.enumerated() {
      let message = try JSONValue(parsing: text)
      let type = message["type"]?.string
      if place == 0 {
        #expect(type == "connection_init")
        continue
      }
      let id = try #require(message["id"]?.string.flatMap(Int.init))
      switch type {
      case "subscribe":
        #expect(id > newest && subscribed.insert(id).inserted)
        newest = id
      case "complete": #expect(subscribed.contains(id) && completed.insert(id).inserted)
      default: Issue.record("the client sent \(text)")
      }
    }
    return subscribed.subtracting(completed)
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `three thousand come and go over several sockets, and every frame is in order`(seed: UInt64) throws {
    let stage = try Stage(seed: seed) { $0.pingInterval = nil }
    var random = SeededRandom(seed: seed)
    func chance(_ bound: UInt64) -> Int { Int(random.next() % bound) }
    var alive: [SubscriptionStream<SubscriptionEvent>] = []
    var started = 0
    for _ in 0..<6_000 {
      switch chance(20) {
      case 0: stage.run(.microseconds(1))
      case 1 where chance(40) == 0: stage.onLoop { $0.socket?.cut() }
      case 2..<11 where started < 3_000:
        started += 1
        alive.append(stage.subscribe())
      default:
        guard !alive.isEmpty else { continue }
        alive.remove(at: chance(UInt64(alive.count))).cancel()
      }
    }
    // Several cuts at once lengthen the pauses, which only a connection that lives makes short again.
    stage.run(.seconds(60))
    #expect(started > 2_500)
    let sockets = stage.server.sockets.count
    for socket in 0..<sockets {
      let left = try open(stage, socket)
      if socket == sockets - 1 { #expect(left.count == alive.count) }
    }
    #expect(alive.allSatisfy { $0.state.short == "active" })
    #expect(stage.executor.foreignEnqueues == 0)
  }

  @Test func `a thousand subscriptions cancelled right after their start send nothing`() throws {
    let stage = try Stage()
    let keeper = stage.subscribe()
    stage.run()
    for _ in 1...1_000 { stage.subscribe().cancel() }
    stage.run()
    #expect(stage.types(0) == ["connection_init", "subscribe"])
    #expect(keeper.state.short == "active")
  }

  @Test func `results for cancelled ids are dropped, those of others are delivered`() throws {
    let stage = try Stage()
    let streams = (1...50).map { _ in stage.subscribe() }
    stage.run()
    for stream in streams.prefix(49) { stream.cancel() }
    stage.onLoop { server in for id in 1...50 { server.socket?.next("\(id)", data: ["tick": 1]) } }
    #expect(streams.map(\.core.waiting) == Array(repeating: 0, count: 49) + [1])
  }
}
