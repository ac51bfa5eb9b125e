internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// The accounts, which the server alone writes.
struct WorldBank {
  let store: Store
  let model: ModelDefinition

  /// Makes the accounts, each with 100.
  func open(_ accounts: Int, at time: String) {
    let operations = (0..<accounts).map { number -> WriteOperation in
      var record = Record(values: model.fields.map { _ in JSONValue.null })
      for (place, field) in model.fields.enumerated() {
        switch field.name {
        case "id": record.values[place] = .string("a\(number)")
        case "amount": record.values[place] = .int(100)
        default: if place == model.createdAt || place == model.updatedAt { record.values[place] = .string(time) }
        }
      }
      return .create(model: model.number, record: record)
    }
    store.commit(WriteRequest(.batch(operations), size: accounts)) { _ in }
  }

  /// Moves an amount from one account to another, in one transaction.
  func transfer(_ amount: Int64, from: Int, to: Int) {
    guard from != to, let field = model.position(of: "amount") else { return }
    let number = model.number
    let operation = WriteOperation.transaction { transaction in
      for (account, change) in [(from, -amount), (to, amount)] {
        let key = RecordKey(.string("a\(account)"))
        guard let stored = try transaction.get(number, key), let before = stored.record[field].int else { continue }
        try transaction.update(RecordUpdate(model: number, key: key, values: [(field, .int(before + change))]))
      }
    }
    store.commit(WriteRequest(operation, size: 2)) { _ in }
  }
}
