import MartletCommandLine
import MartletJSON
import MartletSQLite

/// The records of a model in the SQLite file of Amplify's DataStore, as the device shows them: with the changes that it
/// had not sent.
struct DataStoreFile: RowSource {
  let header: [String] = []
  private let columns: [String]
  private let statement: Statement
  private let count: Int
  private var line = 0
  /// After the last row: a statement that is stepped again begins with the first one.
  private var isOver = false
  private(set) var taken = 0
  /// Changes of the model's records that the device had not sent.
  let unsent: Int

  /// - Throws: when the file is not an SQLite file, or has no table of the model.
  init(_ path: String, model: String) throws(CommandFailure) {
    do {
      var options = Database.Options()
      options.isReadOnly = true
      let database = try Database(path: path, options: options)
      let tables = try Self.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", database)
      guard tables.contains(where: { $0.utf8.elementsEqual(model.utf8) }) else {
        let models = tables.filter { !Self.own.contains($0) && !$0.hasPrefix("sqlite_") }
        throw CommandFailure(
          .badData, "\(path) has no table \(model). It has: \(models.joined(separator: ", ")).")
      }
      let table = "\"" + model.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
      columns = try Self.texts("SELECT name FROM pragma_table_info(?)", database, model)
      count = Int(try Self.texts("SELECT count(*) FROM \(table)", database).first ?? "") ?? 0
      let changes = "SELECT count(*) FROM MutationEvent WHERE modelName = ?"
      unsent = try tables.contains("MutationEvent") ? Int(Self.texts(changes, database, model).first ?? "") ?? 0 : 0
      statement = try database.prepare("SELECT * FROM \(table) ORDER BY rowid")
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.badData, "\(path) cannot be read as a file of DataStore: \(error).")
    }
    if unsent > 0 {
      Console.error("\(Count.of(unsent, "change")) of \(model) had not been sent; the records are imported with them.")
    }
  }

  /// DataStore's own tables.
  private static let own: Set<String> = ["ModelSyncMetadata", "MutationEvent", "MutationSyncMetadata"]

  private static func texts(_ sql: String, _ database: Database, _ argument: String? = nil) throws -> [String] {
    let statement = try database.prepare(sql)
    if let argument { try statement.bind(1, text: argument) }
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    return found
  }

  var fraction: Double { count == 0 ? 1 : min(1, Double(line) / Double(count)) }

  mutating func next() throws(CommandFailure) -> ImportRow? {
    guard !isOver else { return nil }
    do {
      guard try statement.step() else {
        isOver = true
        return nil
      }
    } catch {
      throw CommandFailure(.badData, "Row \(line + 1) cannot be read: \(error).")
    }
    line += 1
    taken += columns.count * MemoryLayout<Int64>.size
    var row = JSONObject()
    for (index, name) in columns.enumerated() where !name.hasPrefix("@@") || AmplifyExport.isReference(name) {
      switch statement.type(index) {
      case .null: break
      case .integer: row[name] = .int(statement.int64(index))
      case .real: row[name] = .double(statement.double(index))
      case .text:
        let text = statement.text(index)
        taken += text.utf8.count
        row[name] = .string(text)
      case .blob: throw CommandFailure(.badData, "Row \(line), column \(name): bytes, which no field of a model has.")
      }
    }
    return .object(row, line: line)
  }
}
