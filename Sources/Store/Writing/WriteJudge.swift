internal import MartletVocabulary

/// Says of a numbered write whether it is new, has an outcome already, or can no longer be known. Confined to the
/// writer's executor.
struct WriteJudge {
  enum Judgement {
    /// The write must not be run: its outcome is this one.
    case answered(Receipt)
    /// It must not be run, and is refused.
    case refused(StoreError)
    /// It is to be run, and acknowledges the client's outcomes up to this number.
    case new(acknowledged: Int64)
  }

  let file: StoreFile
  let limits: StoreLimits

  func judge(_ id: WriteNumber, _ request: WriteRequest, _ coder: OutcomeCoder) throws -> Judgement {
    guard let client = try file.outcomes.client(of: id, file.folded.horizon) else {
      if request.isResend {
        return .refused(
          StoreError(.outcomeForgotten, "the client of this write has expired; whether it was applied is unknown"))
      }
      return acknowledging(id, request, known: 0)
    }
    if let (offset, result) = try file.outcomes.outcome(client, id.number) {
      switch try coder.receipt(result, of: id, offset: offset) {
      case .success(let receipt): return .answered(receipt)
      case .failure(let error): return .refused(error)
      }
    }
    if id.number <= client.acknowledged { return .refused(forgotten(id, client.acknowledged)) }
    return acknowledging(id, request, known: client.acknowledged)
  }

  private func forgotten(_ id: WriteNumber, _ acknowledged: Int64) -> StoreError {
    StoreError(
      .outcomeForgotten,
      "the client has acknowledged its writes up to number \(acknowledged); the outcome of \(id.number) is forgotten")
  }

  private func acknowledging(_ id: WriteNumber, _ request: WriteRequest, known: Int64) -> Judgement {
    let largest = limits.unacknowledgedWrites
    guard let given = request.acknowledged else {
      // A client that does not say what it has: the newest outcomes are kept.
      return .new(acknowledged: max(known, id.number - largest))
    }
    let acknowledged = max(known, given)
    guard id.number > acknowledged else { return .refused(forgotten(id, acknowledged)) }
    guard id.number - acknowledged <= largest else {
      return .refused(
        StoreError(.overloaded, "more than \(largest) writes of this client wait for its acknowledgement"))
    }
    return .new(acknowledged: acknowledged)
  }
}
