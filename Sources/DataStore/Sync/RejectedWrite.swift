internal import MartletJSON
internal import MartletStore
internal import MartletSyncEngine

/// A write that the server refused for good. It stays until the application retries or discards it.
public struct RejectedWrite: Sendable, Hashable {
  /// Why the server refused it.
  public enum Reason: Sendable, Hashable {
    /// The record had changed, and the conflict was resolved in the server's favour.
    case conflict
    /// The write's condition did not hold for the server's record.
    case conditionFailed
    /// The caller may not write this.
    case unauthorized
    /// Anything else that the server said.
    case refused(code: String, message: String)
    /// It needs an earlier write of the same record that was refused.
    case dependsOn(write: Int64)
  }

  /// The write's number.
  public let write: Int64
  /// The model's name.
  public let modelName: String
  /// The record's identifier.
  public let modelId: String
  /// What it did to the record.
  public let mutationType: MutationEvent.MutationType
  /// The record it would have made, or the fields it would have changed, as JSON; nil for a deletion.
  public let json: String?
  /// Why it was refused.
  public let reason: Reason
  /// When, in milliseconds since 1970 of this machine's clock.
  public let time: Int64
}

extension RejectedWrite {
  init(_ stored: StoredLetter, _ mapping: ModelMapping) {
    write = stored.letter.write.number
    modelName = mapping.name
    modelId = mapping.text(stored.key)
    time = stored.time
    reason = Reason(stored.letter.reason)
    switch stored.letter.write.content {
    case .create(let record):
      mutationType = .create
      json = mapping.json(record).description
    case .update(let patches):
      mutationType = .update
      let members = patches.filter { mapping.shape.columns.indices.contains($0.field) }
        .map { (key: mapping.shape.columns[$0.field].name, value: $0.new) }
      json = JSONValue.object(JSONObject(members)).description
    case .delete:
      mutationType = .delete
      json = nil
    }
  }
}

extension RejectedWrite.Reason {
  init(_ reason: DeadLetter.Reason) {
    switch reason {
    case .conflict: self = .conflict
    case .conditionFailed: self = .conditionFailed
    case .unauthorized: self = .unauthorized
    case .refused(let code, let message): self = .refused(code: code, message: message)
    case .dependsOn(let number): self = .dependsOn(write: number)
    }
  }
}
