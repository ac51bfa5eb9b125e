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
    let request = ConnectionRequest(payload: payload, dialect: dialect)
    let bound = LoopBound(self, on: hub.loop)
    let task = hub.node.spawner.spawn {
      var answer = ConnectionAnswer.refuse()
      if let given = try? await question(request) { answer = given }
      let told = answer
      bound.loop.execute { bound.value.answered(told) }
    }
    let timer = hub.loop.schedule(at: hub.loop.now + hub.node.limits.operationTimeout) { [weak self] in
      self?.answered(.refuse("No answer whether this client may connect"))
    }
    self.question = PendingQuestion(task, timer)
  }

  private func answered(_ answer: ConnectionAnswer) {
    guard question != nil else { return }
    question = nil
    switch answer {
    case .accept(let payload): accept(payload)
    case .refuse(let reason):
      noteRefusal("A client was refused by the program.")
      if let stream { return stream.refuse(reason) }
      step { $0.refuse(reason, actions: &$1) }
    }
  }
}
