public import MartletJSON

/// The three kinds of operation.
public enum GraphQLOperationKind: String, Hashable, Sendable, CaseIterable {
  /// Reads, and has one answer.
  case query
  /// Writes, and has one answer.
  case mutation
  /// Is answered again and again.
  case subscription
}

/// An operation with its variables, and the type of its results. `martlet generate` writes such types; a hand-written
/// one needs the two texts, a `Data`, and a stored property for each variable.
///
/// A `Codable` type gets `variables` from its stored properties.
public protocol GraphQLOperation: Sendable, Hashable {
  /// What the server answers.
  associatedtype Data: Decodable & Sendable
  /// The operation's name in the document.
  static var operationName: String { get }
  /// The whole document, fragments included.
  static var operationDocument: String { get }
  /// Which of the three kinds it is.
  static var operationKind: GraphQLOperationKind { get }
  /// The variables by their names in the document; those left out are absent.
  ///
  /// - Throws: `EncodingError` for a value that JSON cannot say, such as an infinite number.
  var variables: JSONObject { get throws }
}

/// Reads and has no effect.
public protocol GraphQLQuery: GraphQLOperation {}
/// Writes.
public protocol GraphQLMutation: GraphQLOperation {}
/// Answers again and again.
public protocol GraphQLSubscription: GraphQLOperation {}

extension GraphQLQuery {
  /// `.query`
  public static var operationKind: GraphQLOperationKind { .query }
}

extension GraphQLMutation {
  /// `.mutation`
  public static var operationKind: GraphQLOperationKind { .mutation }
}

extension GraphQLSubscription {
  /// `.subscription`
  public static var operationKind: GraphQLOperationKind { .subscription }
}

extension GraphQLOperation {
  /// No variables.
  public var variables: JSONObject { JSONObject() }
}

extension GraphQLOperation where Self: Encodable {
  /// The stored properties under their coding keys; a `GraphQLNullable` that is `.none` and an optional that is nil are
  /// left out.
  public var variables: JSONObject {
    get throws { try JSONEncoding(types: .foundation).encode(self).object ?? JSONObject() }
  }
}
