internal import MartletGraphQLExecution

extension Log {
  /// Writes an error that a resolver threw and clients may not see.
  @Sendable func unexpectedError(_ unexpected: UnexpectedError) {
    write(
      .error, "A resolver failed.",
      [
        (.field, unexpected.field), (.path, unexpected.pathText), (.operation, unexpected.operation ?? ""),
        (.reason, "\(unexpected.error)"),
      ].filter { !$0.value.isEmpty })
  }
}
