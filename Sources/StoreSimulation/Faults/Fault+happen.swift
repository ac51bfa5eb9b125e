internal import MartletDataStore
internal import MartletSimulation
internal import MartletVocabulary

extension Fault {
  /// Waits for the fault's time, and does it.
  func happen(in world: World) async {
    await world.executor.sleep(at)
    if world.isOver || isLate(world) { return }
    world.record("FAULT \(self)")
    world.count("fault")
    world.count("fault \(kind.rawValue)")
    do { try await act(world) } catch { world.checks.fail(.failure, "\(kind.rawValue): \(error)") }
  }

  /// What comes after the story's end is not done: the faults have ended then.
  private func isLate(_ world: World) -> Bool { world.executor.now - .zero >= Story.length }

  /// Waits for the fault's length, or the story's end.
  private func last(_ world: World) async {
    let rest = Story.length - (world.executor.now - .zero)
    await world.executor.sleep(min(length, max(rest, .zero)))
  }

  private func act(_ world: World) async throws {
    let target = world.clients[client % world.clients.count]
    switch kind {
    case .delay, .requestLoss, .answerLoss, .duplication, .cut, .partition, .halfOpen:
      await disturb(world, target)
    case .clientKill: target.arm(amount, losesPower: false)
    case .clientPowerCut: target.arm(amount, losesPower: true)
    case .serverKill, .serverPowerCut, .serverRestart, .retention, .restore: try await endServer(world)
    case .clientClock:
      target.skew += Int64(amount % 2 == 0 ? amount : -amount) * 1_000
    case .serverClock:
      world.server.skew += Int64(amount % 2 == 0 ? amount : -amount) * 1_000
    case .rules:
      world.server.reload { $0.rules = WorldSchema.Rules.allCases[amount % 3] }
      await last(world)
      world.server.reload { $0.rules = amount % 2 == 0 ? .open : $0.rules }
    case .token:
      world.server.oldestToken += 1
      // For every second of them no fresh ones can be had for a while.
      if amount % 2 == 0 { world.staleTokensUntil = world.executor.now + length / 4 }
    case .overload:
      world.server.overloadedUntil = world.executor.now + length
    case .schema:
      for client in world.clients { client.isLater = true }
      // For every second of them the clients have it before the server, and one begins to use it at once.
      if amount % 2 == 0, !world.server.schema.hasMood {
        target.arm(1, losesPower: false)
        await last(world)
      }
      world.server.reload { $0.hasMood = true }
    // The applications stop and start their syncs by themselves; here all do at once.
    case .pause:
      for client in world.clients { try? await client.process?.store?.stop() }
      await last(world)
      for client in world.clients { await client.reconnect() }
    }
  }

  private func disturb(_ world: World, _ client: WorldClient) async {
    let network = world.network
    switch kind {
    case .delay:
      network.conditions.slowest = amount * 20_000
      await last(world)
      network.conditions.slowest = WorldNetwork.Conditions().slowest
    case .requestLoss:
      network.conditions.requestLoss = amount
      await last(world)
      network.conditions.requestLoss = 0
    case .answerLoss:
      network.conditions.answerLoss = amount
      await last(world)
      network.conditions.answerLoss = 0
    case .duplication:
      network.conditions.duplication = amount
      await last(world)
      network.conditions.duplication = 0
    case .cut:
      for client in world.clients { client.cut() }
    case .partition:
      client.isPartitioned = true
      await last(world)
      client.isPartitioned = false
    case .halfOpen:
      client.isDeaf = true
      await last(world)
      client.isDeaf = false
    case .clientKill, .clientPowerCut, .serverKill, .serverPowerCut, .serverRestart, .clientClock, .serverClock, .rules,
      .token, .retention, .restore, .overload, .schema, .pause:
      break
    }
  }

  private func endServer(_ world: World) async throws {
    let server = world.server
    switch kind {
    case .serverRestart:
      server.stop()
      await world.executor.sleep(.milliseconds(100))
    case .retention:
      // The clients miss something, so that they learn of the gap.
      for client in world.clients { client.isPartitioned = true }
      await last(world)
      try server.forgetHistory(forgetsDeletions: amount % 2 == 1)
      for client in world.clients { client.isPartitioned = false }
      return
    case .restore:
      guard let copy = server.copy else { return }
      await last(world)
      server.stop()
      server.restore(copy)
    default:
      server.arm(amount, losesPower: kind == .serverPowerCut)
      await last(world)
    }
    if !server.isRunning, !world.isOver { try server.start() }
  }
}
