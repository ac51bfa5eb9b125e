internal import MartletJSON

/// An entry as a line of text.
enum LogLine {
  /// `{"time":"…","level":"info","message":"…","port":"8080"}`.
  static func json(_ entry: Log.Entry) -> String {
    var members: JSONObject = [
      "time": .string(Calendar.dateTime(entry.milliseconds)), "level": .string("\(entry.level)"),
      "message": .string(entry.message),
    ]
    for (key, value) in entry.metadata { members[key.rawValue] = .string(value) }
    return JSONValue.object(members).description
  }

  /// `2026-01-31T12:00:00.000Z info The server is listening. address=127.0.0.1 port=8080`. Values with spaces, quotes
  /// or control characters are JSON strings, so that no value can begin a line of its own.
  static func text(_ entry: Log.Entry) -> String {
    var line = "\(Calendar.dateTime(entry.milliseconds)) \(entry.level) \(entry.message)"
    for (key, value) in entry.metadata { line += " \(key.rawValue)=\(word(value))" }
    return line
  }

  private static func word(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x3D }
    return isPlain ? value : JSONValue.string(value).description
  }
}
