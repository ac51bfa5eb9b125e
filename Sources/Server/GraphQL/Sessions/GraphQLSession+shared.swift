internal import MartletGraphQLWire
internal import MartletRuntime

extension GraphQLSession: SharedStreamSession {
  /// Starts an operation that was posted to the stream.
  func startShared(_ operation: StreamRegistry.Waiting) -> SharedStreamMachine.Admission {
    guard let stream else { return .closed }
    // What was committed since the client asked belongs to it.
    stream.startsBehind = operation.since
    defer { stream.startsBehind = nil }
    var admission = SharedStreamMachine.Admission.closed
    step { [self] machine, actions in
      guard var shared = machine as? SharedStreamMachine else { return }
      admission = shared.subscribe(operation.id, operation.request, at: service.loop.now, actions: &actions)
      machine = shared
    }
    return admission
  }

  /// Ends an operation that the client no longer wants.
  func stopShared(_ id: OperationID) {
    step { machine, actions in
      guard var shared = machine as? SharedStreamMachine else { return }
      shared.stop(id, actions: &actions)
      machine = shared
    }
  }
}
