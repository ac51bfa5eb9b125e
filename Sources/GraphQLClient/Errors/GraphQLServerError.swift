public import MartletJSON

/// An error that a server put into a response, as the GraphQL specification describes it.
///
///     for error in response.errors {
///       print(error.message, error.path, error.extensions["code"]?.string ?? "")
///     }
///
/// A member that is missing, or has another type than it should, is empty here; `json` has what the server sent.
public struct GraphQLServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A place in the document that was sent.
  public struct Location: Sendable, Hashable {
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int

    /// A place.
    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// One step on the way to the field that failed.
  public enum PathElement: Sendable, Hashable, CustomStringConvertible {
    /// A field, by its name in the response.
    case field(String)
    /// An element of a list, from 0.
    case index(Int)

    /// The name or the index.
    public var description: String {
      switch self {
      case .field(let name): name
      case .index(let index): "\(index)"
      }
    }
  }

  /// The error as the server sent it.
  public var json: JSONValue

  /// An error as a server sent it.
  public init(_ json: JSONValue) {
    self.json = json
  }

  /// What went wrong, for developers.
  public var message: String { json["message"]?.string ?? "" }

  /// Where in the document; empty for errors that have no place there.
  public var locations: [Location] {
    (json["locations"]?.array ?? []).compactMap { place in
      guard let line = place["line"]?.int, let column = place["column"]?.int else { return nil }
      return Location(line: Int(line), column: Int(column))
    }
  }

  /// The way to the field of the response that failed; empty for errors of the whole operation.
  public var path: [PathElement] {
    (json["path"]?.array ?? []).compactMap { step in
      step.string.map { .field($0) } ?? step.int.map { .index(Int($0)) }
    }
  }

  /// What the server adds, often a `code`.
  public var extensions: JSONObject { json["extensions"]?.object ?? JSONObject() }

  /// A member by its name, also one that the specification does not know.
  public subscript(member: String) -> JSONValue? { json[member] }

  /// The message with the path.
  public var description: String {
    let text = json["message"]?.string ?? "\(json)"
    return path.isEmpty ? text : "\(text) (at \(path.map(\.description).joined(separator: ".")))"
  }
}
