internal import MartletSQLite
internal import MartletVocabulary

/// Clients that number their writes, and the outcomes they have not acknowledged. Confined to the connection's thread.
///
/// A client is its name together with the identity it writes under: another user's resend finds nothing.
final class OutcomeTable {
  static let tables = """
    CREATE TABLE martlet_clients(
      id INTEGER PRIMARY KEY, identity TEXT NOT NULL, client TEXT NOT NULL, acknowledged INTEGER NOT NULL,
      at INTEGER NOT NULL, UNIQUE(identity, client)) STRICT;
    CREATE INDEX martlet_clients_at ON martlet_clients(at);
    CREATE TABLE martlet_outcomes(
      client INTEGER NOT NULL, number INTEGER NOT NULL, offset INTEGER NOT NULL, result BLOB NOT NULL,
      PRIMARY KEY(client, number)) WITHOUT ROWID, STRICT;
    """

  /// A client that has not expired.
  struct Client: Equatable {
    var id: Int64
    /// Outcomes up to this number are forgotten.
    var acknowledged: Int64
  }

  /// Clients that have a row, expired ones included; nil until they are counted. What takes back a transaction or a
  /// savepoint sets it back too.
  var countedClients: Int64?
  private let database: Database
  private let selectClient: Statement
  private let selectOutcome: Statement
  private let insertOutcome: Statement
  private let updateClient: Statement

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    selectClient = try database.prepare(
      "SELECT id, acknowledged, at FROM martlet_clients WHERE identity = ? AND client = ?")
    selectOutcome = try database.prepare("SELECT offset, result FROM martlet_outcomes WHERE client = ? AND number = ?")
    insertOutcome = try database.prepare(
      "INSERT OR REPLACE INTO martlet_outcomes(client, number, offset, result) VALUES(?, ?, ?, ?)")
    updateClient = try database.prepare("UPDATE martlet_clients SET acknowledged = ?, at = ? WHERE id = ?")
  }

  // MARK: Reading

  /// The client, unless its last write is older than `horizon` says.
  func client(of id: WriteNumber, _ horizon: Horizon) throws(SQLiteError) -> Client? {
    guard let row = try row(of: id), row.at >= horizon.clientsBefore else { return nil }
    return row.client
  }

  /// The offset and result of an outcome.
  func outcome(_ client: Client, _ number: Int64) throws(SQLiteError) -> (offset: Int64, result: [UInt8])? {
    guard number > client.acknowledged else { return nil }
    try selectOutcome.bind(1, client.id)
    try selectOutcome.bind(2, number)
    guard try selectOutcome.step() else { return nil }
    defer { selectOutcome.reset() }
    return (selectOutcome.int64(0), selectOutcome.bytes(1))
  }

  /// The time of the write that the client after the `count` newest ones made last; nil when there are not so many.
  func time(afterNewest count: Int64) throws(SQLiteError) -> Int64? {
    let excess = try clients() - count
    guard excess > 0 else { return nil }
    // From the oldest on: a look walks over the few that are too many and not over all that are kept.
    let rows = try database.statement("SELECT at FROM martlet_clients ORDER BY at LIMIT 1 OFFSET ?")
    defer { rows.reset() }
    try rows.bind(1, excess - 1)
    return try rows.step() ? rows.int64(0) : nil
  }

  private func clients() throws(SQLiteError) -> Int64 {
    if let countedClients { return countedClients }
    let rows = try database.statement("SELECT count(*) FROM martlet_clients")
    defer { rows.reset() }
    let count = try rows.step() ? rows.int64(0) : 0
    countedClients = count
    return count
  }

  /// Whether a client's last write is older than `time` and has not expired under `horizon`.
  func holdsClients(before time: Int64, _ horizon: Horizon) throws(SQLiteError) -> Bool {
    let rows = try database.statement("SELECT 1 FROM martlet_clients WHERE at >= ? AND at < ? LIMIT 1")
    defer { rows.reset() }
    try rows.bind(1, horizon.clientsBefore)
    try rows.bind(2, time)
    return try rows.step()
  }

  private func row(of id: WriteNumber) throws(SQLiteError) -> (client: Client, at: Int64)? {
    try selectClient.bind(1, text: id.identity)
    try selectClient.bind(2, text: id.client)
    guard try selectClient.step() else { return nil }
    defer { selectClient.reset() }
    return (Client(id: selectClient.int64(0), acknowledged: selectClient.int64(1)), selectClient.int64(2))
  }

  // MARK: Folding

  /// Folds the outcome entry at `offset`, written at `time`.
  func fold(_ outcome: WriteOutcome, offset: Int64, time: Int64, _ horizon: Horizon) throws(SQLiteError) {
    var client: Client
    if let known = try row(of: outcome.id) {
      client = known.client
      if known.at < horizon.clientsBefore {
        // Expired, though its row is still here: it begins again.
        try forgetOutcomes(of: client.id, through: .max)
        client.acknowledged = outcome.acknowledged
      } else if outcome.acknowledged > client.acknowledged {
        client.acknowledged = outcome.acknowledged
        try forgetOutcomes(of: client.id, through: client.acknowledged)
      }
      try updateClient.bind(1, client.acknowledged)
      try updateClient.bind(2, time)
      try updateClient.bind(3, client.id)
      try updateClient.run()
    } else {
      client = try insert(outcome.id, outcome.acknowledged, time)
    }
    try insert(outcome.result, client.id, outcome.id.number, offset)
  }

  /// Folds a further part of the outcome before it; the write's changes follow the last part.
  func fold(_ rest: WriteOutcomeRest, offset: Int64) throws {
    guard let client = try row(of: rest.id)?.client, let known = try outcome(client, rest.id.number) else {
      throw StoreError(.diverged, "the log continues the outcome of a write that it does not have")
    }
    try insert(known.result + rest.result, client.id, rest.id.number, offset)
  }

  /// Adds a client that is not there.
  func insert(_ id: WriteNumber, _ acknowledged: Int64, _ time: Int64) throws(SQLiteError) -> Client {
    let insert = try database.statement(
      "INSERT INTO martlet_clients(identity, client, acknowledged, at) VALUES(?, ?, ?, ?) RETURNING id")
    defer { insert.reset() }
    try insert.bind(1, text: id.identity)
    try insert.bind(2, text: id.client)
    try insert.bind(3, acknowledged)
    try insert.bind(4, time)
    guard try insert.step() else { return Client(id: 0, acknowledged: acknowledged) }
    countedClients = countedClients.map { $0 + 1 }
    return Client(id: insert.int64(0), acknowledged: acknowledged)
  }

  func insert(_ result: [UInt8], _ client: Int64, _ number: Int64, _ offset: Int64) throws(SQLiteError) {
    try insertOutcome.bind(1, client)
    try insertOutcome.bind(2, number)
    try insertOutcome.bind(3, offset)
    try insertOutcome.bind(4, blob: result)
    try insertOutcome.run()
  }

  private func forgetOutcomes(of client: Int64, through number: Int64) throws(SQLiteError) {
    let delete = try database.statement("DELETE FROM martlet_outcomes WHERE client = ? AND number <= ?")
    try delete.bind(1, client)
    try delete.bind(2, number)
    try delete.run()
  }

  // MARK: Housekeeping

  /// Deletes at most `count` expired clients, with their outcomes. Returns how many they were.
  func sweep(_ horizon: Horizon, count: Int64) throws(SQLiteError) -> Int64 {
    let expired = try database.statement("SELECT id FROM martlet_clients WHERE at < ? ORDER BY at LIMIT ?")
    try expired.bind(1, horizon.clientsBefore)
    try expired.bind(2, count)
    var ids: [Int64] = []
    while try expired.step() { ids.append(expired.int64(0)) }
    countedClients = countedClients.map { $0 - Int64(ids.count) }
    for id in ids {
      try forgetOutcomes(of: id, through: .max)
      let delete = try database.statement("DELETE FROM martlet_clients WHERE id = ?")
      try delete.bind(1, id)
      try delete.run()
    }
    return Int64(ids.count)
  }
}
