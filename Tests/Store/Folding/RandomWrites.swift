import MartletJSON
import MartletModels
import MartletStore
import MartletVocabulary

/// Random schemas, records and writes over few keys, so that conflicts, deletions and resends meet.
struct RandomWrites {
  struct Stop: Error {}

  var random: SeededRandom
  /// Every numbered write so far.
  var numbered: [WriteRequest] = []
  private var counters: [String: Int64] = [:]

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
  }

  mutating func count(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  mutating func chance(_ one: Int) -> Bool { count(one) == 0 }

  // MARK: Schemas

  /// Adds, drops and requires fields, changes defaults and indexes.
  static func shapes(_ version: Int) -> [RecordShape] {
    var flights = Models.flights
    // What refers to a flight goes with it, loses its reference or keeps the flight from being deleted.
    flights.cascades.append(
      RecordShape.Cascade(child: Models.mixed, reference: [1], action: version % 5 == 2 ? .refuse : .clear))
    switch version % 5 {
    case 1: flights.columns.append(Models.column("status", required: true, default: "onTime"))
    case 2: flights.columns.append(Models.column("status", required: true, default: "late"))
    case 3:
      flights.columns.insert(Models.column("note", default: "n"), at: 4)
      flights.indexes = [RecordIndex(name: "byCode", fields: [5], isUnique: true)]
    case 4:
      flights.columns[3].isRequired = true
      flights.columns[3].defaultValue = "A1"
      flights.indexes.append(RecordIndex(name: "byGate", fields: [3], isUnique: false))
    default: break
    }
    return [flights, Models.legs, Models.mixedShape]
  }

  // MARK: Writes

  mutating func request(_ shapes: [RecordShape]) -> WriteRequest {
    if !numbered.isEmpty, chance(5) {
      var again = numbered[numbered.count - 1 - count(min(numbered.count, 12))]
      again.isResend = chance(2)
      return again
    }
    let operation = operation(shapes, depth: 2)
    return chance(2) ? numbered(operation) : WriteRequest(operation)
  }

  /// Several creations, some of keys and unique values that other writes use.
  mutating func creations(_ shapes: [RecordShape]) -> WriteOperation {
    let count = 5 + count(6)
    return .batch(
      (0..<count).map { index in
        let shape = shapes[self.count(3)]
        let isShared = chance(40)
        let key = RecordKey(
          values: shape.key.map { field in
            let column = shape.columns[field]
            if isShared || column.storage != .text { return value(column, isKey: true) }
            return .string("s\(index) \(self.count(1_000))")
          })
        return .create(model: shape.model, record: record(shape, key))
      })
  }

  /// A numbered write that is refused, alone in its group.
  mutating func refusal() -> WriteRequest {
    numbered(.update(RecordUpdate(model: Models.flight, key: Models.key("none"), values: [(2, 1)])))
  }

  private mutating func numbered(_ operation: WriteOperation) -> WriteRequest {
    var request = WriteRequest(operation)
    let (client, identity) = ("c\(count(2))", "u\(count(2))")
    let number = (counters[client + identity] ?? 0) + 1
    counters[client + identity] = number
    request.writeNumber = WriteNumber(client: client, number: number, identity: identity)
    request.acknowledged = chance(3) ? nil : max(0, number - 1 - Int64(count(4)))
    numbered.append(request)
    return request
  }

  private mutating func operation(_ shapes: [RecordShape], depth: Int) -> WriteOperation {
    let shape = shapes[count(3)]
    let key = RecordKey(values: shape.key.map { value(shape.columns[$0], isKey: true) })
    switch count(depth > 0 ? 12 : 8) {
    case 0, 1, 2: return .create(model: shape.model, record: record(shape, key))
    case 3, 4:
      var values: [(field: Int, value: JSONValue)] = []
      for field in shape.columns.indices where !shape.key.contains(field) && chance(2) {
        values.append((field, value(shape.columns[field], isKey: false)))
      }
      return .update(
        RecordUpdate(
          model: shape.model, key: key, values: values, expectedVersion: chance(4) ? Int64(count(4)) : nil))
    case 5, 6: return .delete(model: shape.model, key: key)
    case 7 where chance(2):
      let change = TreeStoreTests.change(&random)
      return .transaction { try $0.put(change) }
    case 7 where chance(2): return deferred()
    case 7: return .event(topic: "t\(count(2))", payload: .array([.int(Int64(count(100)))]))
    case 8, 9: return .batch((0..<(1 + count(4))).map { _ in operation(shapes, depth: 0) })
    default:
      let record = record(shape, key)
      let (model, fails) = (shape.model, chance(3))
      return .transaction { transaction in
        _ = try? transaction.create(model, record)
        _ = try? transaction.create(model, record)
        try transaction.publish(topic: "t", payload: "p")
        if fails { throw Stop() }
      }
    }
  }

  /// Leaves a write for the end of a session, drops some, or makes what an owner has left.
  private mutating func deferred() -> WriteOperation {
    let (owner, choice, body) = ("o\(count(3))", count(5), Array("body \(count(100))".utf8))
    let change = TreeStoreTests.change(&random)
    return .series { transaction in
      switch choice {
      case 0, 1: _ = try transaction.deferWrite(body, of: owner)
      case 4: try transaction.define("kind", owner, body.count % 2 == 0 ? body : [])
      case 2:
        guard let first = try transaction.deferredWrites(of: owner).first else { return }
        try transaction.removeDeferred(of: owner, [first.number])
      default:
        let left = try transaction.deferredWrites(of: owner)
        for _ in left { try transaction.separately { try transaction.put(change) } }
        try? transaction.separately {
          try transaction.put(change)
          throw Stop()
        }
        if !left.isEmpty { try transaction.removeDeferred(of: owner) }
      }
    }
  }

  mutating func record(_ shape: RecordShape, _ key: RecordKey) -> Record {
    var values = shape.columns.map { value($0, isKey: false) }
    for (index, field) in shape.key.enumerated() { values[field] = key.values[index] }
    return Record(values: values)
  }

  mutating func value(_ column: RecordColumn, isKey: Bool) -> JSONValue {
    if !isKey, !column.isRequired, chance(3) { return .null }
    switch column.storage {
    case .text where column.name == "text": return .string("id\(count(6))")
    case .text: return .string("\(column.name)\(count(isKey ? 4 : 8))")
    case .integer: return .int(Int64(count(3)))
    case .real: return chance(2) ? .int(Int64(count(5))) : .double(0.5)
    case .boolean: return .bool(chance(2))
    case .json: return [1, 2.5, "x", nil, ["k": []]]
    }
  }
}
