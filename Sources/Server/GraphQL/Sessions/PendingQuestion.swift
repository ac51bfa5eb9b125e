internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWireProtocols

/// A question to the program that a session waits for; gone with it. Confined to its loop.
final class PendingQuestion {
  private let task: SpawnedTask
  private let timer: LoopTimer

  init(_ task: SpawnedTask, _ timer: LoopTimer) {
    self.task = task
    self.timer = timer
  }

  deinit {
    task.cancel()
    timer.cancel()
  }
}

extension LoopServer {
  /// Carries an answer to the loop.
  private final class Listener {
    let tell: (ConnectionAnswer) -> Void
    init(_ tell: @escaping (ConnectionAnswer) -> Void) { self.tell = tell }
  }

  /// Asks the program whether a client may connect. `tell` hears the answer on the loop, or a refusal once the time is up:
  /// only what it hears first counts.
  func ask(
    _ question: @escaping ConnectionQuestion, _ request: ConnectionRequest, tell: @escaping (ConnectionAnswer) -> Void
  ) -> PendingQuestion {
    let bound = LoopBound(Listener(tell), on: loop)
    let task = node.spawner.spawn {
      var answer = ConnectionAnswer.refuse()
      if let given = try? await question(request) { answer = given }
      let told = answer
      bound.loop.execute { bound.value.tell(told) }
    }
    let timer = loop.schedule(at: loop.now + node.limits.operationTimeout) {
      tell(.refuse("No answer whether this client may connect"))
    }
    return PendingQuestion(task, timer)
  }
}

extension GraphQLSession {
  /// Asks the program whether the client may connect; the answer acknowledges or refuses.
  func ask(_ question: @escaping ConnectionQuestion, _ payload: JSONObject) {
    let dialect: ConnectionRequest.Dialect =
      switch machine.dialect {
      case .transportWS: .graphqlTransportWS
      case .legacy: .graphqlWS
      case .appSync: .appSync
      case nil: stream?.dialect ?? .eventStream
      }
    self.question = hub.ask(question, ConnectionRequest(payload: payload, dialect: dialect)) { [weak self] answer in
      self?.answered(answer)
    }
  }

  private func answered(_ answer: ConnectionAnswer) {
    guard question != nil else { return }
    question = nil
    switch answer {
    case .accept(let payload, let duration):
      if let duration {
        guard duration > .zero else { return answered(refusing: "The credentials have expired.") }
        expire(after: duration)
      }
      accept(payload)
    case .refuse(let reason): answered(refusing: reason)
    }
  }

  private func answered(refusing reason: String) {
    noteRefusal("A client was refused by the program.")
    if let stream { return refuse(stream, reason) }
    step { $0.refuse(reason, actions: &$1) }
  }
}
