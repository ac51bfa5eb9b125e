import Foundation
import MartletServer

/// The server's log as JSON lines on standard error.
enum TextLog {
  static func log(level: Log.Level) -> Log {
    Log(level: level) { Console.error(line($0, at: Date())) }
  }

  static func level(_ name: String) throws(UsageError) -> Log.Level {
    switch name {
    case "debug": .debug
    case "info": .info
    case "warning": .warning
    case "error": .error
    default: throw UsageError("--log-level must be debug, info, warning or error, not '\(name)'.")
    }
  }

  static func line(_ entry: Log.Entry, at time: Date) -> String {
    var members: JSONObject = [
      "time": .string(time.ISO8601Format()), "level": .string("\(entry.level)"), "message": .string(entry.message),
    ]
    for (key, value) in entry.metadata { members[key.rawValue] = .string(value) }
    return JSONValue.object(members).description
  }
}
