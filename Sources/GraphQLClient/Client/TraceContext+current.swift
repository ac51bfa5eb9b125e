@_exported public import MartletTracing

extension TraceContext {
  /// The trace that operations continue, which begin in this task: they carry it to the server as `traceparent`, by
  /// HTTP as a header field and in any case among their `extensions`. Nil, the default, sends none.
  ///
  /// ```swift
  /// try await TraceContext.$current.withValue(context) { try await client.mutate(document) }
  /// ```
  @TaskLocal public static var current: TraceContext?
}
