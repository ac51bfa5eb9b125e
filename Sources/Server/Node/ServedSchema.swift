package import MartletGraphQLExecution
package import MartletModelSDL
internal import MartletModels

/// What a server serves and what can be replaced while it runs, as one immutable value.
package final class ServedSchema: Sendable {
  package let models: ModelSchema
  package let schema: ExecutableSchema
  /// Topics that subscription fields listen to, by the field's name.
  package let topics: [String: String]
  /// Whether the schema has access rules. Models without any are then closed.
  package let isGuarded: Bool
  /// Replaces what rules come to, in tests.
  let lens: RuleLens?

  package init(models: ModelSchema, schema: ExecutableSchema, topics: [String: String], lens: RuleLens? = nil) {
    self.lens = lens
    self.models = models
    self.schema = schema
    self.topics = topics
    isGuarded = models.hasAccessRules
  }
}
