internal import MartletJSON
internal import MartletModels

/// Records as JSON objects whose members have the names of columns, so that they outlive a migration.
extension RecordShape {
  func object(of record: Record) -> JSONValue {
    // By index, since an iterator copies each column; their names differ.
    .object(JSONObject(distinct: columns.indices.map { (key: columns[$0].name, value: record[$0]) }))
  }

  func record(of json: JSONValue) -> Record {
    Record(values: columns.map { $0.storage.normalized(json[$0.name] ?? $0.defaultValue) })
  }

  /// The record of an image. What another process, whose models lack fields, has kept has these in the row alone.
  func record(of json: JSONValue, or row: () throws -> StoredRecord?) rethrows -> Record {
    var record = record(of: json)
    let missing = columns.indices.filter { json[columns[$0].name] == nil }
    guard !missing.isEmpty, let row = try row() else { return record }
    for field in missing { record.values[field] = row.record[field] }
    return record
  }
}
