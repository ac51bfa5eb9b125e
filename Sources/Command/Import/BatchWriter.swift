import MartletJSON

/// Writes rows, a batch in one transaction. Rows whose key exists are updated, so that a batch may be written again.
struct BatchWriter {
  let target: ImportTarget
  let remote: Remote

  static let document =
    "mutation Import($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { __typename } }"

  func write(_ rows: [JSONObject]) async throws(CommandFailure) {
    let creations: [JSONObject] = rows.map { [target.createMember: .object($0)] }
    let response: JSONObject
    do throws(CommandFailure) {
      response = try await send(creations)
    } catch  where error.code == .unavailable {
      // The connection was lost before the answer: the batch may have been written or not. Its keys tell.
      return try await writeKnowing(rows)
    }
    guard let error = response["errors"]?[0] else { return }
    guard error["extensions"]?["code"]?.string == "ALREADY_EXISTS" else {
      throw CommandFailure(.failure, error["message"]?.string ?? error.description)
    }
    try await writeKnowing(rows)
  }

  /// Asks which keys exist, then creates some rows and updates the others.
  private func writeKnowing(_ rows: [JSONObject]) async throws(CommandFailure) {
    guard let getField = target.getField, let update = target.updateMember, !target.keys.isEmpty,
      rows.allSatisfy({ row in target.keys.allSatisfy { row[$0] != nil } })
    else {
      throw CommandFailure(
        .failure, "Some of the rows may be there already, and without keys in the file that cannot be told.")
    }
    let answer = try await remote.perform(
      Self.lookup(getField: getField, keys: target.keys, rows: rows), variables: JSONObject(), isMutation: false)
    let found = try ImportCommand.data(of: answer)
    var seen: Set<[JSONValue]> = []
    let writes: [JSONObject] = rows.enumerated().map { index, row in
      let isNew = seen.insert(target.keys.map { row[$0] ?? .null }).inserted
      let exists = !isNew || !(found["r\(index)"] ?? .null).isNull
      return [exists ? update : target.createMember: .object(row)]
    }
    let response = try await send(writes)
    _ = try ImportCommand.data(of: response)
  }

  private func send(_ writes: [JSONObject]) async throws(CommandFailure) -> JSONObject {
    try await remote.perform(
      Self.document, variables: ["writes": .array(writes.map { .object($0) })], isMutation: true)
  }

  /// One query that reads every row's record, under the names r0, r1, …
  static func lookup(getField: String, keys: [String], rows: [JSONObject]) -> String {
    let fields = rows.enumerated().map { index, row in
      let arguments = keys.map { "\($0): \((row[$0] ?? .null).description)" }.joined(separator: ", ")
      return "r\(index): \(getField)(\(arguments)) { __typename }"
    }
    return "{ " + fields.joined(separator: " ") + " }"
  }
}
