internal import MartletJSON
internal import MartletModels
internal import MartletSyncEngine

extension StoreDriver {
  /// Makes the writes of some steps in one transaction: all of them, or none when one cannot be made.
  mutating func write(_ steps: [StoreStepReader]) throws(StoreDriverError) {
    let before = store
    var added: [(number: Int64, model: Int)] = []
    var removed: [Int64] = []
    do throws(StoreDriverError) {
      for step in steps {
        let write = try step.written()
        guard let made = try make(step, write) else {
          store = before
          return
        }
        switch made {
        case .added(let number): added.append((number, write.model))
        case .removed(let numbers):
          removed += numbers.filter { number in !added.contains { $0.number == number } }
          added.removeAll { numbers.contains($0.number) }
        case .unchanged: break
        }
      }
    } catch {
      store = before
      throw error
    }
    for number in removed { end(number, "superseded") }
    if !removed.isEmpty { handle(.outbox(.removed(removed))) }
    for write in added { handle(.outbox(.added(number: write.number, model: write.model))) }
  }

  /// Makes a refused write again. Nothing happens when it does not fit the record, or its condition does not hold.
  mutating func retry(_ number: Int64) throws(StoreDriverError) {
    guard let model = store.model(ofRefused: number) else {
      throw StoreDriverError("no refused write has the number \(number)")
    }
    let before = store
    do throws(RecordReplica.WriteError) {
      switch try store.retry(number) {
      case .added(let number): handle(.outbox(.added(number: number, model: model)))
      case .removed(let numbers):
        for number in numbers { end(number, "superseded") }
        handle(.outbox(.removed(numbers)))
      case .unchanged: break
      }
    } catch {
      store = before
    }
  }

  /// Makes the write of a step. Returns nil when it does not fit the record, or its condition does not hold.
  private mutating func make(
    _ step: StoreStepReader, _ write: (model: Int, key: RecordKey, record: Record)
  ) throws(StoreDriverError) -> DrivenStore.Outbox? {
    let (verb, condition) = (try step.type(), try step.condition())
    let fields = verb == "update" ? try step.fields() : []
    do throws(RecordReplica.WriteError) {
      return try store.write(
        write.model, write.key,
        { replica, number throws(RecordReplica.WriteError) in
          // A record that is not there is deleted already.
          if verb == "delete", replica.visible == nil { return nil }
          if let condition, replica.visible.map(condition.matches) != true { throw .missing }
          switch verb {
          case "delete":
            return try replica.write(PendingWrite(number: number, content: .delete, condition: condition))
          case "update":
            guard var record = replica.visible else { throw .missing }
            for (field, value) in fields { record.values[field] = value }
            return try replica.save(record, number: number, condition: condition)
          case _: return try replica.save(write.record, number: number, condition: condition)
          }
        })
    } catch {
      return nil
    }
  }
}
