import MartletAccess
import MartletCommandLine
import MartletJSON
import MartletRuntime
import MartletSockets

/// The API keys of an access file.
enum KeyActions {
  static let options: [CommandSpecification.Option] = [
    .init(name: "file", value: "FILE", help: "the access file; create makes it when it is missing"),
    .init(name: "expires-in", value: "TIME", help: "key create: how long the key is accepted, such as 90d"),
    .init(name: "introspection", value: nil, help: "key create: its callers may ask for the schema"),
    .init(
      name: "operations", value: "NAMES",
      help: "key create: what its callers may do of what the rules allow, such as read or create,get"),
    .init(name: "models", value: "NAMES", help: "key create: the models that its callers may use, such as Flight,Gate"),
  ]

  static func create(_ name: String, _ arguments: ParsedArguments) throws -> ExitCode {
    try AccessCommand.refuse(TokenCheck.options + ExplainAction.options, in: arguments, of: "key create")
    guard !name.isEmpty else { throw UsageError("A key needs a name.") }
    guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
      throw UsageError("A key's name is one line of text, without control characters.")
    }
    var chance = SystemChance.generator()
    let text = Self.key(using: &chance)
    var key = APIKey(name: name, digest: Digest.sha256(Array(text.utf8)))
    if let life = try arguments.duration("expires-in") {
      let seconds = WallClock.sinceEpoch().components.seconds + life.components.seconds
      guard seconds <= APIKey.farthest else { throw UsageError("--expires-in goes beyond the year 9999.") }
      key.expires = .seconds(seconds)
    }
    if arguments.has("introspection") { key.introspection = true }
    if let names = try names("operations", arguments) { key.scope.operations = try operations(names) }
    if let names = try names("models", arguments) { key.scope.models = names }
    guard let file = arguments.value("file") else {
      Console.out("Key, shown once:  \(text)\nEntry for \"keys\": \(JSONValue.object(key.entry))")
      return .success
    }
    var keys = try KeyFile(file, mustExist: false)
    try keys.add(key)
    try keys.save()
    Console.out("Key, shown once:  \(text)\nAdded \"\(name)\" to \(file); a running server reads it at SIGHUP.")
    return .success
  }

  /// The names of an option, which are separated by commas; nil where it is not given.
  private static func names(_ option: String, _ arguments: ParsedArguments) throws -> [String]? {
    guard let text = arguments.value(option) else { return nil }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains("") else { throw UsageError("--\(option) needs names separated by commas, not '\(text)'.") }
    return names
  }

  private static func operations(_ names: [String]) throws -> Set<AccessOperation> {
    try names.reduce(into: []) { operations, name in
      guard let named = AccessOperation.named(name) else {
        let known = (["read"] + AccessOperation.allCases.map(\.rawValue)).joined(separator: ", ")
        throw UsageError("--operations names '\(name)', which is not one of \(known).")
      }
      operations.formUnion(named)
    }
  }

  static func list(_ arguments: ParsedArguments) throws -> ExitCode {
    try AccessCommand.refuse(TokenCheck.options + ExplainAction.options, in: arguments, of: "key list")
    let now = WallClock.sinceEpoch()
    for key in try KeyFile(try file(arguments), mustExist: true).keys {
      let end =
        switch key.expires {
        case nil: "never expires"
        case let time? where time <= now: "expired \(Moment.text(time))"
        case let time?: "expires \(Moment.text(time))"
        }
      var line = "\(key.name)\t\(end)"
      if key.scope != .everything, let members = Self.scope(of: key) { line += "\t\(members)" }
      Console.out(line)
    }
    return .success
  }

  static func revoke(_ name: String, _ arguments: ParsedArguments) throws -> ExitCode {
    try AccessCommand.refuse(TokenCheck.options + ExplainAction.options, in: arguments, of: "key revoke")
    let file = try file(arguments)
    var keys = try KeyFile(file, mustExist: true)
    guard keys.remove(name) else {
      let near = Choices.nearest(name, among: keys.keys.map(\.name)).map { " Did you mean \"\($0)\"?" } ?? ""
      throw CommandFailure(.failure, "\(file) has no key called \"\(name)\".\(near)")
    }
    try keys.save()
    Console.out("Removed \"\(name)\" from \(file); a running server reads it at SIGHUP.")
    return .success
  }

  /// 256 random bits as 64 hexadecimal digits after a prefix that secret scanners can be configured for.
  static func key(using random: inout any RandomNumberGenerator & Sendable) -> String {
    var text = "martlet_"
    for _ in 0..<4 {
      let word: UInt64 = random.next()
      let digits = String(word, radix: 16)
      text += String(repeating: "0", count: 16 - digits.count) + digits
    }
    return text
  }

  private static func file(_ arguments: ParsedArguments) throws -> String {
    guard let file = arguments.value("file") else { throw UsageError("Name the access file: --file FILE.") }
    return file
  }

  private static func scope(of key: APIKey) -> String? {
    let entry = key.entry
    return ["operations", "models"].compactMap { name in entry[name].map { "\(name) \($0)" } }.joined(separator: ", ")
  }
}
