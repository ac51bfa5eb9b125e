internal import MartletJSON

/// A part of what rules allow: an identity with a scope may do less than the rules say, never more.
package struct AccessScope: Sendable, Hashable {
  /// The operations that remain.
  package var operations: Set<AccessOperation>
  /// The models that remain, by name; nil for all.
  package var models: [String]?

  package init(operations: Set<AccessOperation> = Set(AccessOperation.allCases), models: [String]? = nil) {
    self.operations = operations
    self.models = models
  }

  /// Nothing is taken away.
  package static let everything = AccessScope()

  package func contains(_ operation: AccessOperation, on model: String) -> Bool {
    operations.contains(operation) && (models?.contains { $0.hasSameBytes(as: model) } ?? true)
  }
}
