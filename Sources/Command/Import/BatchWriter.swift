import MartletCommandLine
import MartletJSON

/// Writes rows, a batch in one transaction or, when it is too large for one, in several. Rows whose key exists are
/// updated if a value differs, so that a batch may be written again and the second time changes nothing.
struct BatchWriter {
  /// What became of rows.
  struct Counts: Equatable {
    var new = 0
    var changed = 0
    var unchanged = 0

    var text: String { "\(new) new, \(changed) changed, \(unchanged) unchanged" }

    static func += (left: inout Counts, right: Counts) {
      left.new += right.new
      left.changed += right.changed
      left.unchanged += right.unchanged
    }
  }

  /// Bytes of one request's writes: half of what a server takes by default.
  private static let largestRequest = 1 << 19
  /// Writes of one request.
  private static let mostWrites = 1_000
  /// Fields that one question for existing records selects: far below what a server allows an operation.
  private static let mostFields = 1_000

  let target: ImportTarget
  /// Sends an operation and returns its response.
  let perform:
    (_ document: String, _ variables: JSONObject, _ isMutation: Bool) async throws(CommandFailure) -> JSONObject
  /// Whether a batch had rows that exist: then the next ones are looked up first.
  private var expectsExisting = false

  init(
    target: ImportTarget,
    perform: @escaping (String, JSONObject, Bool) async throws(CommandFailure) -> JSONObject
  ) {
    self.target = target
    self.perform = perform
  }

  static let document =
    "mutation Import($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { __typename } }"

  mutating func write(_ rows: [JSONObject]) async throws(CommandFailure) -> Counts {
    var counts = Counts()
    var rest = rows[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Self.prefix(of: rest)))
      rest = rest.dropFirst(part.count)
      counts += try await writePart(part)
    }
    return counts
  }

  /// How many of the rows one request takes: at least one.
  private static func prefix(of rows: ArraySlice<JSONObject>) -> Int {
    var bytes = 0
    var count = 0
    for row in rows.prefix(mostWrites) {
      bytes += JSONValue.object(row).description.utf8.count + 32
      if count > 0, bytes > largestRequest { break }
      count += 1
    }
    return count
  }

  private mutating func writePart(_ rows: [JSONObject]) async throws(CommandFailure) -> Counts {
    if expectsExisting, canAsk(rows) { return try await writeKnowing(rows) }
    let response: JSONObject
    do throws(CommandFailure) {
      response = try await send(rows.map { [target.createMember: .object($0)] })
    } catch  where error.code == .unavailable {
      // The connection was lost before the answer: the batch may have been written or not; a query for its keys
      // decides.
      return try await writeKnowing(rows)
    }
    guard let error = response["errors"]?[0] else { return Counts(new: rows.count) }
    guard error["extensions"]?["code"]?.string == "ALREADY_EXISTS" else {
      throw CommandFailure(.failure, error["message"]?.string ?? error.description)
    }
    expectsExisting = true
    return try await writeKnowing(rows)
  }

  private func canAsk(_ rows: [JSONObject]) -> Bool {
    target.getField != nil && target.updateMember != nil && !target.keys.isEmpty
      && rows.allSatisfy { row in target.keys.allSatisfy { row[$0] != nil } }
  }

  /// Asks for the records with the rows' keys, then creates some, updates those that differ and leaves the others
  /// alone.
  private func writeKnowing(_ rows: [JSONObject]) async throws(CommandFailure) -> Counts {
    guard canAsk(rows), let update = target.updateMember else {
      throw CommandFailure(
        .failure, "Some of the rows may be there already, and without keys in the file that cannot be told.")
    }
    var current = try await existing(rows)
    var counts = Counts()
    var writes: [JSONObject] = []
    for row in rows {
      let key = target.keys.map { row[$0] ?? .null }
      if let known = current[key] {
        if row.allSatisfy({ name, value in known[name].map { Self.same($0, value) } ?? false }) {
          counts.unchanged += 1
          continue
        }
        counts.changed += 1
        writes.append([update: .object(row)])
      } else {
        counts.new += 1
        writes.append([target.createMember: .object(row)])
      }
      // A key that is there twice in the file: the later row changes what the earlier one wrote.
      var merged = current[key] ?? JSONObject()
      for (name, value) in row { merged[name] = value }
      current[key] = merged
    }
    if !writes.isEmpty { _ = try ImportCommand.data(of: try await send(writes)) }
    return counts
  }

  /// The values that records with the rows' keys have in the rows' fields, by key.
  private func existing(_ rows: [JSONObject]) async throws(CommandFailure) -> [[JSONValue]: JSONObject] {
    let leaves = Set(target.fields.filter(\.type.isLeaf).map(\.name))
    var found: [[JSONValue]: JSONObject] = [:]
    var start = 0
    while start < rows.count {
      let width = max(1, rows[start].count + 1)
      let part = Array(rows[start..<min(rows.count, start + max(1, Self.mostFields / width))])
      let document = Self.lookup(getField: target.getField ?? "", keys: target.keys, rows: part, leaves: leaves)
      let data = try ImportCommand.data(of: try await perform(document, JSONObject(), false))
      for (index, row) in part.enumerated() {
        if let record = data["r\(index)"]?.object { found[target.keys.map { row[$0] ?? .null }] = record }
      }
      start += part.count
    }
    return found
  }

  private func send(_ writes: [JSONObject]) async throws(CommandFailure) -> JSONObject {
    try await perform(Self.document, ["writes": .array(writes.map { .object($0) })], true)
  }

  /// Whether a stored value is the row's: numbers by value, lists in order, text by its bytes.
  private static func same(_ stored: JSONValue, _ value: JSONValue) -> Bool {
    if case .array(let left) = stored, case .array(let right) = value {
      return left.count == right.count && zip(left, right).allSatisfy(same)
    }
    switch (stored, value) {
    case (.double, _), (_, .double): return stored.double == value.double
    // An ID may be written as a number.
    case (.string(let text), .int(let number)): return text == String(number)
    default: return stored == value
    }
  }

  /// One query that reads every row's record, under the names r0, r1, …, with the row's fields that have no selection.
  static func lookup(getField: String, keys: [String], rows: [JSONObject], leaves: Set<String>) -> String {
    let fields = rows.enumerated().map { index, row in
      let arguments = keys.map { "\($0): \((row[$0] ?? .null).description)" }.joined(separator: ", ")
      let names = row.map(\.key).filter { leaves.contains($0) }
      return "r\(index): \(getField)(\(arguments)) { \(names.isEmpty ? "__typename" : names.joined(separator: " ")) }"
    }
    return "{ " + fields.joined(separator: " ") + " }"
  }
}
