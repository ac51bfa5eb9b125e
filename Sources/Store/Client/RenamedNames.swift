internal import MartletJSON
internal import MartletSQLite

/// Follows a migration that changes the case of models' and fields' names. The outbox, the refused writes and the
/// server's images name models by their tables and fields by their columns: under the old names they would be left out.
struct RenamedNames {
  let database: Database

  func follow(_ plan: MigrationPlan) throws {
    for step in plan.steps {
      switch step {
      case .renameTable(let old, let new): try renameTable(old, new)
      case .renameColumn(let table, let old, let new): try renameColumn(table, old, new)
      default: break
      }
    }
  }

  private func renameTable(_ old: String, _ new: String) throws {
    for table in ["outbox", "letters", "images", "seen"] {
      try run("UPDATE martlet_client_\(table) SET model = ? WHERE model = ?", new, old)
    }
    for (earlier, later) in zip(ClientTables.names(ofTable: old), ClientTables.names(ofTable: new)) {
      try run("UPDATE martlet_client SET name = ? WHERE name = ?", later, earlier)
    }
  }

  private func run(_ sql: String, _ texts: String...) throws {
    let statement = try database.statement(sql)
    for (index, text) in texts.enumerated() { try statement.bind(index + 1, text: text) }
    try statement.run()
  }

  private func renameColumn(_ table: String, _ old: String, _ new: String) throws {
    let names = Renaming(old: old, new: new)
    for place in ["outbox", "letters"] {
      try change("martlet_client_\(place)", "content", of: table, names.content)
      try change("martlet_client_\(place)", "condition", of: table, names.condition)
    }
    try change("martlet_client_images", "record", of: table, names.members)
  }

  /// Replaces the JSON in one column of a model's rows.
  private func change(
    _ table: String, _ column: String, of model: String, _ body: (JSONValue) -> JSONValue
  ) throws {
    let read = try database.statement(
      "SELECT DISTINCT \(column) FROM \(table) WHERE model = ? AND \(column) IS NOT NULL")
    try read.bind(1, text: model)
    var found: [(before: String, after: JSONValue)] = []
    while try read.step() { found.append((read.text(0), body(try JSONValue(held: read.bytes(0))))) }
    read.reset()
    let write = try database.statement("UPDATE \(table) SET \(column) = ? WHERE model = ? AND \(column) = ?")
    for (before, after) in found {
      try write.bind(1, utf8: after.serialized())
      try write.bind(2, text: model)
      try write.bind(3, text: before)
      try write.run()
    }
  }

  /// One field's names before and after, in what a client's tables hold as JSON.
  private struct Renaming {
    let old: String
    let new: String

    /// The members of a record.
    func members(_ json: JSONValue) -> JSONValue {
      guard let object = json.object else { return json }
      return .object(JSONObject(object.map { (key: name($0), value: $1) }))
    }

    private func name(_ name: String) -> String { name.utf8.elementsEqual(old.utf8) ? new : name }

    /// A write: a record by "create", patches by "update".
    func content(_ json: JSONValue) -> JSONValue {
      guard let object = json.object else { return json }
      return .object(JSONObject(object.map { (key: $0, value: members($1)) }))
    }

    /// A condition as `StoredCondition` writes it.
    func condition(_ json: JSONValue) -> JSONValue {
      guard let object = json.object else { return json }
      return .object(
        JSONObject(
          object.map { name, value in
            switch name {
            case "and", "or": (key: name, value: .array((value.array ?? []).map(condition)))
            case "not": (key: name, value: condition(value))
            default: (key: self.name(name), value: value)
            }
          }))
    }
  }
}
