package import MartletAccess
internal import MartletModelSDL
package import MartletModels
internal import MartletRuntime

/// What the rules of one schema allow one caller. The outcome of a model's rules is computed when it is first needed.
package final class Rights: Sendable {
  package let identity: Identity
  private let models: ModelSchema
  private let lens: RuleLens?
  private let outcomes = Lock<[Int: RuleOutcome]>([:])

  private init(_ identity: Identity, _ served: ServedSchema) {
    self.identity = identity
    models = served.models
    lens = served.lens
  }

  /// The rights of a caller under a schema. Nil for a caller that nothing restricts: the program itself, and callers of
  /// a schema without rules whose credentials carry no scope.
  package static func of(_ identity: Identity, under served: ServedSchema) -> Rights? {
    if identity.provider == .system { return nil }
    guard served.isGuarded || identity.scope != .everything else { return nil }
    return Rights(identity, served)
  }

  /// What the rules of the model with this number come to, for one use of them.
  package func outcome(of model: Int, for use: RuleUse) -> RuleOutcome {
    let outcome = outcome(of: model)
    guard let lens else { return outcome }
    return lens(use, outcome, models.outcome(of: model, for: .system))
  }

  private func outcome(of model: Int) -> RuleOutcome {
    outcomes.withLock { outcomes in
      if let known = outcomes[model] { return known }
      let outcome = models.outcome(of: model, for: identity)
      outcomes[model] = outcome
      return outcome
    }
  }

  /// What decides which values of these models the caller sees, in bytes: equal for callers that see the same.
  func readingBytes(of models: some Sequence<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    for model in models {
      bytes += outcome(of: model, for: .group).reading.canonicalBytes
      bytes.append(0)
    }
    return bytes
  }
}
