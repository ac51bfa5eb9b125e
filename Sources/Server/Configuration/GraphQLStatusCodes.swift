/// Which HTTP statuses say how a GraphQL request went. The GraphQL over HTTP draft and the audits that clients are
/// tested with differ (docs/PROTOCOL.md, "GraphQL over HTTP").
public enum GraphQLStatusCodes: Sendable, Hashable {
  /// As the audits ask: errors of the request are 400, and 200 to clients that know `application/json` only.
  case audited
  /// As the draft of August 2026 has it: 294 for data with errors, 422 for what can be read but not executed.
  case draft
}
