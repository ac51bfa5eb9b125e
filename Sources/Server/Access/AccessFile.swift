internal import MartletAccess
internal import MartletJSON

/// The access configuration: a JSON file that names API keys by their SHA-256.
///
/// ```json
/// {
///   "keys": [
///     { "name": "departure board", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
///     { "name": "visitor", "sha256": "…", "expires": 1893456000 }
///   ],
///   "origins": [ "https://board.example" ]
/// }
/// ```
///
/// `expires` is in seconds since 1970; a key without it is accepted until it is removed from the file.
public struct AccessFile: Sendable {
  let keys: APIKeyRing
  /// Origins whose pages may use the server; nil for any.
  let origins: Set<String>?

  /// What is wrong with an access file, and where.
  public struct Malformed: Error, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String
  }

  /// Reads the file's text.
  ///
  /// - Throws: `Malformed`, naming the entry.
  public init(_ text: String) throws(Malformed) {
    let root: JSONValue
    do {
      root = try JSONValue(parsing: text)
    } catch {
      throw Malformed(description: "The access file is not JSON: \(error.description).")
    }
    guard let members = root.object else {
      throw Malformed(description: "The access file is not an object with \"keys\" and \"origins\".")
    }
    if let unknown = members.first(where: { !["keys", "origins"].contains($0.key) }) {
      throw Malformed(description: "The access file has \"\(unknown.key)\", which means nothing here.")
    }
    guard let list = root["keys"]?.array, !list.isEmpty else {
      throw Malformed(description: "The access file has no \"keys\", so every request would be refused.")
    }
    var keys: [APIKey] = []
    for (index, entry) in list.enumerated() {
      do {
        keys.append(try APIKey(entry))
      } catch {
        throw Malformed(description: "keys[\(index)] \(error.description).")
      }
      guard keys[index].scope == .everything else {
        // Ignoring it would give the key more than its entry says.
        throw Malformed(
          description: "keys[\(index)] has \"operations\" or \"models\", which this version does not enforce.")
      }
    }
    do {
      self.keys = try APIKeyRing(keys)
    } catch {
      throw Malformed(description: "In \"keys\", \(error.description).")
    }
    if let listed = root["origins"], !listed.isNull {
      guard let origins = listed.array?.map(\.string), !origins.contains(nil) else {
        throw Malformed(description: "\"origins\" must be a list of strings such as \"https://board.example\".")
      }
      let named = origins.compactMap { $0 }
      if let wrong = named.first(where: { !OriginCheck.isOrigin($0) }) {
        throw Malformed(
          description: "\"origins\" has \"\(wrong)\", which is not an origin such as \"https://board.example\".")
      }
      self.origins = Set(named)
    } else {
      origins = nil
    }
  }
}
