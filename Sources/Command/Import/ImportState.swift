import MartletJSON

/// How far an import got, kept beside the file so that it can continue after an interruption.
struct ImportState: Equatable {
  var url: String
  var model: String
  /// Bytes of the file, so that another file of the same name starts from its beginning.
  var bytes: Int
  /// Rows the server has acknowledged.
  var rows: Int

  static func path(for file: String, model: String) -> String { "\(file).\(model).import" }

  var text: String {
    let object: JSONObject = [
      "url": .string(url), "model": .string(model), "bytes": .int(Int64(bytes)), "rows": .int(Int64(rows)),
    ]
    return JSONValue.object(object).description + "\n"
  }

  init(url: String, model: String, bytes: Int, rows: Int = 0) {
    self.url = url
    self.model = model
    self.bytes = bytes
    self.rows = rows
  }

  /// Nil for a text that is not a saved state.
  init?(text: String) {
    guard let value = try? JSONValue(parsing: text), let url = value["url"]?.string, let model = value["model"]?.string,
      let bytes = value["bytes"]?.int, let rows = value["rows"]?.int, rows >= 0
    else { return nil }
    self.init(url: url, model: model, bytes: Int(bytes), rows: Int(rows))
  }

  /// Whether this is a state of the same import.
  func continues(_ other: ImportState) -> Bool {
    url == other.url && model == other.model && bytes == other.bytes
  }
}
