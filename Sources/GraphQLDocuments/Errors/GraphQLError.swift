/// One error of a request: what is wrong, where in the document, and at which response position.
///
/// Specification: section 7.1.7 "Errors".
public struct GraphQLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A step from the root of the response to the field an error belongs to.
  public enum PathElement: Hashable, Sendable {
    /// A response name.
    case key(String)
    /// An index into a list, starting at 0.
    case index(Int)
  }

  /// What is wrong, in words for the author of the document.
  public var message: String
  /// The places in the document that take part; empty when no part of the document is to blame.
  public var locations: [SourceLocation]
  /// The response position of the field that failed; empty for errors of the whole request.
  public var path: [PathElement]
  /// The validation rule that reported the error, by its name without the word "Rule"; nil for other errors.
  public var rule: String?

  /// An error with the given parts.
  public init(
    message: String, locations: [SourceLocation] = [], path: [PathElement] = [], rule: String? = nil
  ) {
    self.message = message
    self.locations = locations
    self.path = path
    self.rule = rule
  }

  /// The message followed by its places.
  public var description: String {
    locations.isEmpty ? message : "\(message) (\(locations.map(\.description).joined(separator: ", ")))"
  }
}
