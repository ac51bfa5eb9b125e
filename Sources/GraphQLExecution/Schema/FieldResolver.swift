/// How the value of a field is found.
package enum FieldResolver: Sendable {
  /// From the parent's value: a member, a property or a slot. Also what fields without a resolver do.
  case property
  /// The parent itself: a field of the subscription root whose events are its values.
  case parent
  /// By code of the library that is quick and can run on a loop.
  case builtIn(@Sendable (FieldRequest) throws -> ResolvedValue)
  /// By code of the library that answers later, once for all parents of a level; runs on no task. The completion may
  /// be called from any thread, exactly once, with one result per parent.
  case callback(@Sendable (BatchRequest, @escaping @Sendable (ResolverResults) -> Void) -> Void)
  /// By user code that does not wait.
  case computed(@Sendable (FieldRequest) throws -> ResolvedValue)
  /// By user code that may wait, once per parent; different parents at the same time.
  case waiting(@concurrent @Sendable (FieldRequest) async throws -> ResolvedValue)
  /// By user code that opens a sequence of the list's items.
  case sequence(@concurrent @Sendable (FieldRequest) async throws -> SourceStream)
  /// By user code, once for all parents of a level.
  case batched(@concurrent @Sendable (BatchRequest) async throws -> [ResolvedValue])

  /// Whether the answer comes later.
  package var isDeferred: Bool {
    switch self {
    case .property, .parent, .builtIn, .computed: false
    case .callback, .waiting, .sequence, .batched: true
    }
  }

  /// Whether code of the program that uses the library runs; such code must not run on a loop.
  package var runsUserCode: Bool {
    switch self {
    case .property, .parent, .builtIn, .callback: false
    case .computed, .waiting, .sequence, .batched: true
    }
  }
}

/// The answers of one call, one per parent.
package typealias ResolverResults = [Result<ResolvedValue, any Error>]
