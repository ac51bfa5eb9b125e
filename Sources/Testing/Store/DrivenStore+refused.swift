internal import MartletJSON
internal import MartletModels
internal import MartletSyncEngine

/// The writes that the server has refused for good, which a `DrivenStore` keeps as a `DataStore` does.
extension DrivenStore {
  struct Refused: Sendable {
    var name: Name
    var letter: DeadLetter
  }

  /// The refused writes, in the order of their numbers, with the reasons.
  var rejected: [JSONObject] {
    refused.sorted { $0.letter.write.number < $1.letter.write.number }.map { refused in
      var object = json(refused.letter.write, refused.name)
      for (name, value) in Self.json(refused.letter.reason) { object[name] = value }
      return object
    }
  }

  private static func json(_ reason: DeadLetter.Reason) -> JSONObject {
    switch reason {
    case .conflict: ["reason": "conflict"]
    case .conditionFailed: ["reason": "condition"]
    case .unauthorized: ["reason": "unauthorized"]
    case .refused(let code, let message): ["reason": "refused", "code": .string(code), "message": .string(message)]
    case .dependsOn(let number): ["reason": "dependsOn", "dependsOn": .int(number)]
    }
  }

  /// The model of a refused write; nil when there is none with this number.
  func model(ofRefused number: Int64) -> Int? { refused.first { $0.letter.write.number == number }?.name.model }

  mutating func discard(_ number: Int64) { refused.removeAll { $0.letter.write.number == number } }

  /// Makes a refused write again, on the record as it is now. It stays refused when it does not fit that.
  mutating func retry(_ number: Int64) throws(RecordReplica.WriteError) -> Outbox {
    guard let found = refused.first(where: { $0.letter.write.number == number }) else { return .unchanged }
    let (name, write) = (found.name, found.letter.write)
    let made = try self.write(name.model, name.key) { replica, number throws(RecordReplica.WriteError) in
      if let condition = write.condition, replica.visible.map(condition.matches) != true { throw .missing }
      switch write.content {
      case .create(let record):
        return try replica.save(replica.visible.map { record.filled(from: $0) } ?? record, number: number)
      case .delete:
        if replica.visible == nil { return nil }
        return try replica.write(PendingWrite(number: number, content: .delete, condition: write.condition))
      case .update(let patches):
        guard var record = replica.visible else { throw .missing }
        for patch in patches { patch.make(on: &record) }
        return try replica.save(record, number: number, condition: write.condition)
      }
    }
    discard(number)
    return made
  }
}
