public import MartletGraphQLLanguage
public import MartletJSON

/// The response to one operation, or to one event of a subscription (section 7.1 "Response Format" calls it an
/// execution result).
public struct ExecutionResult: Sendable {
  package let tree: ResponseTree

  package init(_ tree: ResponseTree) {
    self.tree = tree
  }

  /// The response as JSON text.
  public var bytes: [UInt8] { tree.bytes }
  /// The `data` member; nil when the request was not executed.
  public var data: JSONValue? { tree.data?.json }
  /// The errors, without their extensions.
  public var errors: [GraphQLError] { tree.errors.map(\.error) }
}
