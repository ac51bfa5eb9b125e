import MartletAccess
import MartletCommandLine
import MartletJSON

/// An access file that is being changed: entries and members that are not touched stay as they were written.
struct KeyFile {
  private let path: String
  private var root: JSONObject
  private(set) var keys: [APIKey] = []

  init(_ path: String, mustExist: Bool) throws {
    self.path = path
    guard mustExist || NamedFile.exists(path) else {
      root = JSONObject()
      return
    }
    do {
      guard let object = try JSONValue(parsing: try NamedFile.text(path)).object else {
        throw CommandFailure(.badData, "\(path) is not an access file: it does not hold an object.")
      }
      root = object
    } catch let error as JSONError {
      throw CommandFailure(.badData, "\(path) is not an access file: \(error.description).")
    }
    for (position, entry) in (root["keys"]?.array ?? []).enumerated() {
      do {
        keys.append(try APIKey(entry))
      } catch {
        throw CommandFailure(.badData, "\(path): keys[\(position)] \(error.description).")
      }
    }
  }

  mutating func add(_ key: APIKey) throws {
    do {
      _ = try APIKeyRing(keys + [key])
    } catch {
      throw CommandFailure(.badData, "\(path): \(error.description).")
    }
    keys.append(key)
    root["keys"] = .array((root["keys"]?.array ?? []) + [.object(key.entry)])
  }

  /// Removes the key called `name`; false when there is none.
  mutating func remove(_ name: String) -> Bool {
    guard let position = keys.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return false }
    keys.remove(at: position)
    var entries = root["keys"]?.array ?? []
    entries.remove(at: position)
    root["keys"] = .array(entries)
    return true
  }

  func save() throws {
    try NamedFile.replace(path, with: ReadableJSON.pretty(.object(root)) + "\n")
  }
}
