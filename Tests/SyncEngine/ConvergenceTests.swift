import MartletJSON
import MartletModels
import MartletSyncEngine
import MartletVocabulary
import Testing

/// Several clients and a naive server: answers are lost, doubled and reordered, connections drop, processes are killed,
/// the server forgets its log. Once that ends, every client has what the server has.
@Suite struct ConvergenceTests {
  struct World {
    struct Message {
      var client: Int
      var event: SyncEvent
    }

    var server: NaiveServer
    var clients: [SimulatedClient]
    var random: SeededRandom
    var now = Instant.zero
    var hasFaults = true
    /// Answers on their way. They arrive in any order.
    var messages: [Message] = []
    /// By client: the generation of its feed, and how far the server has sent it.
    var feeds: [Int: (generation: Int, sent: Int64)] = [:]
    var killed = 0
    var lost = 0

    init(seed: UInt64) {
      random = SeededRandom(seed: seed)
      server = NaiveServer(isOptimistic: seed % 2 == 0)
      clients = (0..<3).map { SimulatedClient(name: $0) }
      for place in clients.indices { clients[place].handle(.start, now) }
    }

    mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    mutating func step() {
      now = now + .milliseconds(below(60))
      let place = below(clients.count)
      switch below(20) {
      case 0...3 where hasFaults: write(place)
      case 4 where hasFaults && below(4) == 0:
        killed += 1
        feeds[place] = nil
        messages.removeAll { $0.client == place }
        clients[place].restart(now)
      case 5 where hasFaults && below(4) == 0: disconnect(place)
      case 6 where hasFaults && below(20) == 0: server.forget()
      case 7...11: push(place)
      case 12...17: deliver()
      case _: clients[place].fire(now)
      }
      for place in clients.indices {
        for request in clients[place].takeRequests() { serve(place, request) }
      }
    }

    private mutating func write(_ place: Int) {
      let key = RecordKey(values: [.string("k\(below(6))")])
      if below(4) == 0 { return clients[place].delete(key, now) }
      let word = below(12) == 0 ? "refused" : "w\(below(5))"
      let record = Record(values: [key.values[0], .string(word), .int(Int64(below(5)))])
      clients[place].save(key, record, now)
    }

    private mutating func disconnect(_ place: Int) {
      feeds[place] = nil
      let generation = clients[place].engine.generation
      messages.append(Message(client: place, event: .disconnected(generation: generation, .network)))
    }

    /// Sends the next change of a client's feed; it arrives before the one after it.
    private mutating func push(_ place: Int) {
      guard let feed = feeds[place], feed.sent < server.position else { return }
      let change = server.log[Int(feed.sent)]
      feeds[place]?.sent += 1
      let event = SyncEvent.feed(
        generation: feed.generation, [change], cursor: String(change.image.position), position: change.image.position)
      clients[place].handle(event, now)
      if below(5) == 0 { clients[place].handle(event, now) }
    }

    private mutating func deliver() {
      guard !messages.isEmpty else { return }
      let message = messages.remove(at: below(messages.count))
      if below(6) == 0, hasFaults { messages.append(message) }
      clients[message.client].handle(message.event, now)
    }

    private mutating func serve(_ place: Int, _ request: SimulatedClient.Request) {
      let isLost = hasFaults && below(8) == 0
      if isLost { lost += 1 }
      switch request {
      case .subscribe(let generation):
        let cursor = clients[place].disk.cursor
        let resumed = cursor.map { $0 >= server.horizon } ?? false
        feeds[place] = (generation, resumed ? cursor ?? 0 : server.position)
        clients[place].handle(
          isLost
            ? .disconnected(generation: generation, .network)
            : .subscribed(generation: generation, resumed: resumed, cursor: String(server.position)), now)
        if isLost { feeds[place] = nil }
      case .query(let generation, let kind, let token):
        let page = server.page(kind, token: token)
        answer(
          place,
          isLost
            ? .queryFailed(generation: generation, model: 0, .network)
            : .page(generation: generation, model: 0, page))
      case .upload(let generation, let key, let write):
        // A request may be lost before the server has it, or its answer after.
        if isLost, below(2) == 0 {
          return answer(place, .uploadFailed(generation: generation, number: write.number, .network))
        }
        let outcome = server.write(key, write, client: place)
        if isLost { return answer(place, .uploadFailed(generation: generation, number: write.number, .network)) }
        switch outcome {
        case .applied(let image, let position):
          answer(place, .uploaded(generation: generation, number: write.number, image, position: position))
        case .failed(let failure):
          answer(place, .uploadFailed(generation: generation, number: write.number, failure))
        }
      }
    }

    private mutating func answer(_ place: Int, _ event: SyncEvent) {
      messages.append(Message(client: place, event: event))
    }

    var isQuiet: Bool {
      messages.isEmpty && clients.allSatisfy(\.engine.isSettled)
        && clients.indices.allSatisfy { (feeds[$0]?.sent ?? -1) >= server.position }
    }
  }

  @Test(arguments: UInt64(1)...16)
  func `P14, P15, P16: clients converge once faults stop, and no write is lost or applied twice`(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<1_200 { world.step() }
    world.hasFaults = false
    for place in world.clients.indices { world.clients[place].handle(.reachable, world.now) }
    var steps = 0
    while !world.isQuiet, steps < 30_000 {
      world.step()
      steps += 1
    }
    #expect(world.isQuiet, "seed \(seed): \(world.clients.map(\.engine.phase))")
    #expect(world.killed > 0 && world.lost > 0)
    for client in world.clients {
      let visible = client.disk.replicas.compactMapValues(\.visible)
      #expect(visible == world.server.records, "seed \(seed), client \(client.name)")
      let applied = world.server.applied.keys.filter { $0.client == client.name }.map(\.number)
      let letters = client.disk.letters.map(\.write.number)
      let fates = Set(applied).union(letters).union(client.cancelled).union(client.replaced)
      #expect(client.added.isSubset(of: fates), "seed \(seed): \(client.added.subtracting(fates))")
      #expect(client.disk.outbox.isEmpty)
      let pending = client.disk.replicas.values.flatMap(\.pending)
      #expect(pending.isEmpty)
    }
    let doubled = world.server.applied.filter { $0.value != 1 }
    #expect(doubled.isEmpty)
  }
}
