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
  static let largestRequest = 1 << 19
  /// Writes of one request.
  static let mostWrites = 1_000
  /// Fields that one question for existing records selects: far below what a server allows an operation.
  private static let mostFields = 1_000

  /// Why rows were not written.
  private enum Refusal: Error {
    /// The server takes no request of this size.
    case tooLarge
    case failure(CommandFailure)
  }

  let target: ImportTarget
  /// Sends an operation and returns its response.
  let perform:
    (_ document: String, _ variables: JSONObject, _ isMutation: Bool) async throws(CommandFailure) -> JSONObject
  /// Whether a batch had rows that exist: then the next ones are looked up first.
  private var expectsExisting = false
  /// Bytes of one request, which become fewer when the server takes less.
  private var bytes = largestRequest

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
      let part = Array(rest.prefix(prefix(of: rest)))
      do throws(Refusal) {
        counts += try await writePart(part)
        rest = rest.dropFirst(part.count)
      } catch {
        switch error {
        case .failure(let failure): throw failure
        case .tooLarge where part.count > 1: bytes = max(1, part.reduce(0) { $0 + Self.size($1) } / 2)
        case .tooLarge:
          throw CommandFailure(
            .failure,
            "A row of \(Self.size(part[0])) bytes is larger than a request that the server takes"
              + "\(key(part[0])). The server's limit is http.bodyBytes.")
        }
      }
    }
    return counts
  }

  /// Bytes of a row in a request, about.
  private static func size(_ row: JSONObject) -> Int { JSONValue.object(row).description.utf8.count + 32 }

  /// The key of a row, for messages.
  private func key(_ row: JSONObject) -> String {
    let parts = target.keys.compactMap { name in row[name].map { "\(name): \($0.description.prefix(100))" } }
    return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
  }

  /// How many of the rows one request takes: at least one.
  private func prefix(of rows: ArraySlice<JSONObject>) -> Int {
    var sum = 0
    var count = 0
    for row in rows.prefix(Self.mostWrites) {
      sum += Self.size(row)
      if count > 0, sum > bytes { break }
      count += 1
    }
    return count
  }

  private mutating func writePart(_ rows: [JSONObject]) async throws(Refusal) -> Counts {
    if expectsExisting, canAsk(rows) { return try await writeKnowing(rows) }
    let response: JSONObject
    do throws(CommandFailure) {
      response = try await send(rows.map { [target.createMember: .object($0)] })
    } catch  where error.code == .unavailable {
      // The connection was lost before the answer: the batch may have been written or not; a query for its keys
      // decides.
      return try await writeKnowing(rows)
    } catch {
      throw .failure(error)
    }
    guard let error = response["errors"]?[0] else { return Counts(new: rows.count) }
    guard Self.code(error) == "ALREADY_EXISTS" else { throw Self.refusal(error) }
    expectsExisting = true
    return try await writeKnowing(rows)
  }

  private static func code(_ error: JSONValue) -> String? { error["extensions"]?["code"]?.string }

  private static func refusal(_ error: JSONValue) -> Refusal {
    code(error) == "BODY_TOO_LARGE"
      ? .tooLarge : .failure(CommandFailure(.failure, error["message"]?.string ?? error.description))
  }

  /// The data of a response without errors.
  private static func data(_ response: JSONObject) throws(Refusal) -> JSONValue {
    if let error = response["errors"]?[0] { throw refusal(error) }
    return response["data"] ?? .null
  }

  /// The version of a record, in the inputs of versioned models and in their records.
  private static let version = "_version"

  private func canAsk(_ rows: [JSONObject]) -> Bool {
    target.getField != nil && target.updateMember != nil && !target.keys.isEmpty
      && rows.allSatisfy { row in target.keys.allSatisfy { row[$0] != nil } }
  }

  /// Asks for the records with the rows' keys, then creates some, updates those that differ and leaves the others
  /// alone.
  private func writeKnowing(_ rows: [JSONObject]) async throws(Refusal) -> Counts {
    guard canAsk(rows), let update = target.updateMember else {
      throw .failure(
        CommandFailure(
          .failure, "Some of the rows may be there already, and without keys in the file that cannot be known."))
    }
    let distinct = distinct(rows)
    let current = try await existing(distinct)
    var counts = Counts(unchanged: rows.count - distinct.count)
    var writes: [JSONObject] = []
    for row in distinct {
      if let known = current[key(of: row)] {
        if row.allSatisfy({ name, value in known[name].map { Self.same($0, value) } ?? false }) {
          counts.unchanged += 1
          continue
        }
        counts.changed += 1
        var changed = row
        // Of a versioned model: without the version that is there the values would be merged, and lists joined.
        if row[Self.version] == nil, let version = known[Self.version]?.int { changed[Self.version] = .int(version) }
        writes.append([update: .object(changed)])
      } else {
        counts.new += 1
        writes.append([target.createMember: .object(row)])
      }
    }
    guard !writes.isEmpty else { return counts }
    let response: JSONObject
    do { response = try await send(writes) } catch { throw .failure(error) }
    _ = try Self.data(response)
    return counts
  }

  private func key(of row: JSONObject) -> [JSONValue] { target.keys.map { row[$0] ?? .null } }

  /// The rows with each key once: what later rows say replaces what earlier ones say. Written one after the other they
  /// would change the record at each import, with events for its subscribers.
  private func distinct(_ rows: [JSONObject]) -> [JSONObject] {
    var result: [JSONObject] = []
    var places: [[JSONValue]: Int] = [:]
    for row in rows {
      let key = key(of: row)
      if let place = places[key] {
        for (name, value) in row { result[place][name] = value }
      } else {
        places[key] = result.count
        result.append(row)
      }
    }
    return result
  }

  /// The values that records with the rows' keys have in the rows' fields, by key.
  private func existing(_ rows: [JSONObject]) async throws(Refusal) -> [[JSONValue]: JSONObject] {
    let pairs = target.fields.compactMap { field in target.selection(of: field.name).map { (field.name, $0) } }
    let selections = Dictionary(pairs) { first, _ in first }
    var found: [[JSONValue]: JSONObject] = [:]
    var rest = rows[...]
    while !rest.isEmpty {
      var (part, fields): ([JSONObject], Int) = ([], 0)
      for row in rest {
        fields += 1 + row.reduce(0) { $0 + (selections[$1.key]?.split(separator: " ").count ?? 0) }
        if !part.isEmpty, fields > Self.mostFields { break }
        part.append(row)
      }
      rest = rest.dropFirst(part.count)
      let document = Self.lookup(
        getField: target.getField ?? "", keys: target.keys, rows: part, selections: selections)
      let response: JSONObject
      do { response = try await perform(document, JSONObject(), false) } catch { throw .failure(error) }
      let data = try Self.data(response)
      for (index, row) in part.enumerated() {
        if let record = data["r\(index)"]?.object { found[key(of: row)] = record }
      }
    }
    return found
  }

  private func send(_ writes: [JSONObject]) async throws(CommandFailure) -> JSONObject {
    try await perform(Self.document, ["writes": .array(writes.map { .object($0) })], true)
  }

  /// Whether a stored value is the row's: numbers by value, lists in order, text by its bytes, objects by their
  /// members, of which a row leaves out those without a value.
  private static func same(_ stored: JSONValue, _ value: JSONValue) -> Bool {
    if case .array(let left) = stored, case .array(let right) = value {
      return left.count == right.count && zip(left, right).allSatisfy(same)
    }
    if case .object(let left) = stored, case .object(let right) = value {
      return Set((left.map(\.key) + right.map(\.key)).map { Array($0.utf8) }).allSatisfy { key in
        let name = String(decoding: key, as: UTF8.self)
        return same(left[name] ?? .null, right[name] ?? .null)
      }
    }
    switch (stored, value) {
    case (.double, _), (_, .double): return stored.double == value.double
    // An ID may be written as a number.
    case (.string(let text), .int(let number)): return text == String(number)
    default: return stored == value
    }
  }

  /// One query that reads every row's record, under the names r0, r1, …, with the row's fields.
  static func lookup(
    getField: String, keys: [String], rows: [JSONObject], selections: [String: String]
  ) -> String {
    let fields = rows.enumerated().map { index, row in
      let arguments = keys.map { "\($0): \((row[$0] ?? .null).description)" }.joined(separator: ", ")
      let names =
        row.compactMap { selections[$0.key] } + (row[version] == nil ? [selections[version]].compactMap(\.self) : [])
      return "r\(index): \(getField)(\(arguments)) { \(names.isEmpty ? "__typename" : names.joined(separator: " ")) }"
    }
    return "{ " + fields.joined(separator: " ") + " }"
  }
}
