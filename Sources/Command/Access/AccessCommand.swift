import MartletJSON
import MartletRuntime
import MartletSockets

/// `martlet access new NAME`.
enum AccessCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "access", summary: "Make an API key for a server's access file.",
    operands: [
      .init(name: "ACTION", help: "new"),
      .init(name: "NAME", help: "who will use the key; it stands in the file only"),
    ],
    options: [.init(name: "file", value: "FILE", help: "add the entry to this access file, made when missing")],
    examples: [
      ("martlet access new \"departure board\"", "prints a key, and the entry for the access file"),
      ("martlet access new board --file access.json", "prints a key and adds its entry to access.json"),
    ],
    discussion:
      "The key is printed once. The file keeps its SHA-256 only, which is enough because the key is 256 random bits.")

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    guard arguments.operands[0] == "new" else {
      throw UsageError("Unknown action '\(arguments.operands[0])': new.")
    }
    var chance = SystemChance.generator()
    let key = Self.key(using: &chance)
    let entry = Self.entry(name: arguments.operands[1], key: key)
    guard let file = arguments.value("file") else {
      Console.out("Key, shown once:  \(key)\nEntry for \"keys\": \(JSONValue.object(entry))")
      return .success
    }
    let old = NamedFile.exists(file) ? try NamedFile.text(file) : nil
    try NamedFile.write(try Self.extended(old, with: entry, name: file), to: file)
    Console.out(
      "Key, shown once:  \(key)\nAdded \"\(arguments.operands[1])\" to \(file); a running server reads it at SIGHUP.")
    return .success
  }

  /// 256 random bits as 64 hexadecimal digits, behind a prefix that secret scanners can be taught.
  static func key(using random: inout any RandomNumberGenerator & Sendable) -> String {
    var text = "martlet_"
    for _ in 0..<4 {
      text += hexadecimal((0..<8).map { [word = random.next()] in UInt8(truncatingIfNeeded: word >> ($0 * 8)) })
    }
    return text
  }

  static func entry(name: String, key: String) -> JSONObject {
    ["name": .string(name), "sha256": .string(hexadecimal(Digest.sha256(Array(key.utf8))))]
  }

  /// An access file with one more entry.
  static func extended(_ text: String?, with entry: JSONObject, name: String) throws -> String {
    var root = JSONObject()
    if let text {
      do {
        guard let object = try JSONValue(parsing: text).object else {
          throw CommandFailure(.badData, "\(name) is no access file: it holds no object.")
        }
        root = object
      } catch let error as JSONError {
        throw CommandFailure(.badData, "\(name) is no access file: \(error.description).")
      }
    }
    root["keys"] = .array((root["keys"]?.array ?? []) + [.object(entry)])
    return JSONText.pretty(.object(root)) + "\n"
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
