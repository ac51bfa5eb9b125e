import MartletCommandLine
import MartletJSON

/// Rows into inputs of a model.
struct RowConversion {
  private let columns: [(name: String, field: ImportTarget.Field?)]
  private let fields: [String: ImportTarget.Field]
  private let names: [String: String]
  /// Fields without which the server creates no record.
  private let required: [String]
  private let missing: Set<String>
  private let ignoresUnknown: Bool
  private let isAmplify: Bool
  /// The members of embedded values, by the names of their input objects.
  private let objects: [String: [ImportTarget.Field]]

  /// - Parameters:
  ///   - header: the columns of a CSV file; empty for JSON lines.
  ///   - renamed: column to field, where they differ.
  ///   - missing: texts that stand for no value, beside the empty cell.
  ///   - isAmplify: whether objects are Amplify's, with its own fields, and values as it stores them.
  /// - Throws: when a column names no field, or a required field has no column.
  init(
    _ target: ImportTarget, header: [String], renamed: [String: String], missing: Set<String>, ignoresUnknown: Bool,
    isAmplify: Bool = false
  ) throws(CommandFailure) {
    fields = Dictionary(target.fields.map { ($0.name, $0) }) { first, _ in first }
    required = target.fields.filter(\.type.isRequired).map(\.name)
    names = renamed
    self.missing = missing
    self.ignoresUnknown = ignoresUnknown
    self.isAmplify = isAmplify
    objects = target.objects
    var columns: [(name: String, field: ImportTarget.Field?)] = []
    for column in header {
      let name = renamed[column] ?? column
      if fields[name] == nil, !ignoresUnknown {
        throw CommandFailure(.badData, Self.unknown(column, as: name, in: target))
      }
      if fields[name] != nil, let other = columns.first(where: { $0.field?.name == name }) {
        throw CommandFailure(.badData, "The columns '\(other.name)' and '\(column)' are both the field '\(name)'.")
      }
      columns.append((column, fields[name]))
    }
    self.columns = columns
    let covered = Set(columns.compactMap { $0.field?.name })
    let uncovered = required.filter { !covered.contains($0) }
    if !header.isEmpty, !uncovered.isEmpty {
      throw CommandFailure(
        .badData,
        "No column for \(uncovered.joined(separator: ", ")), which \(target.model) requires. Use --map COLUMN=FIELD.")
    }
  }

  func input(_ row: ImportRow) throws(CommandFailure) -> JSONObject {
    var input = JSONObject()
    switch row {
    case .cells(let cells, let line):
      for (column, cell) in zip(columns, cells) {
        guard let field = column.field, !cell.isEmpty, !missing.contains(cell) else { continue }
        do {
          input[field.name] = try field.type.value(ofText: cell)
        } catch {
          throw CommandFailure(.badData, "Line \(line), column \(column.name): \(error.reason).")
        }
      }
      if let name = absent(from: input), let column = columns.first(where: { $0.field?.name == name }) {
        throw CommandFailure(.badData, "Line \(line), column \(column.name): the field needs a value.")
      }
    case .object(let object, let line):
      for (key, value) in object where !isAmplify || !AmplifyExport.stamps.contains(key) {
        let name = names[key] ?? key
        if isAmplify, AmplifyExport.isReference(key) {
          try read(value.string, of: key, into: &input, line)
          continue
        }
        guard let field = fields[name] else {
          guard ignoresUnknown || isAmplify && (AmplifyExport.ownFields.contains(key) || value.isNull) else {
            throw CommandFailure(
              .badData, "Line \(line): the model has no field '\(name)'. Use --map or --ignore-unknown.")
          }
          continue
        }
        guard input[name] == nil else {
          throw CommandFailure(.badData, "Line \(line): the field '\(name)' is there twice.")
        }
        guard isAmplify else {
          input[name] = value
          continue
        }
        if value.isNull { continue }
        do {
          input[name] = try AmplifyExport.value(value, for: field.type, in: objects)
        } catch {
          throw CommandFailure(.badData, "Line \(line), field \(name): \(error.reason).")
        }
      }
      if let name = absent(from: input) {
        throw CommandFailure(.badData, "Line \(line): the field '\(name)' needs a value.")
      }
    }
    return input
  }

  /// The values of a reference to a record with a composite key, into the fields that `--map` names for its column.
  private func read(
    _ reference: String?, of column: String, into input: inout JSONObject, _ line: Int
  ) throws(CommandFailure) {
    guard let reference else { return }
    guard let mapped = names[column] else {
      if ignoresUnknown { return }
      throw CommandFailure(
        .badData,
        "Line \(line): the column '\(column)' refers to a record by several values. Use --map '\(column)=FIELD,FIELD' "
          + "or --ignore-unknown.")
    }
    let parts = AmplifyExport.parts(ofReference: reference)
    let targets = mapped.split(separator: ",").map(String.init)
    guard targets.count == parts.count else {
      throw CommandFailure(
        .badData,
        "Line \(line): the column '\(column)' has \(Count.of(parts.count, "value")), and --map names "
          + "\(Count.of(targets.count, "field")).")
    }
    for (name, part) in zip(targets, parts) {
      guard let field = fields[name] else {
        throw CommandFailure(.badData, "Line \(line): the model has no field '\(name)'.")
      }
      do {
        input[name] = try field.type.value(ofText: part)
      } catch {
        throw CommandFailure(.badData, "Line \(line), field \(name): \(error.reason).")
      }
    }
  }

  private func absent(from input: JSONObject) -> String? {
    required.first { input[$0]?.isNull ?? true }
  }

  private static func unknown(_ column: String, as name: String, in target: ImportTarget) -> String {
    let near = Choices.nearest(name, among: target.fields.map(\.name))
    let hint = near.map { " Did you mean --map \(column)=\($0)?" } ?? ""
    return "Column '\(column)' is not a field of \(target.model).\(hint) --ignore-unknown leaves such columns out."
  }
}
