public import MartletJSON

/// The code that implements a schema: what finds the values of fields, names the types of objects, reads and writes
/// custom scalars, and opens the streams of subscriptions.
///
/// ```swift
/// let schema = try ExecutableSchema(text) { schema in
///   schema.resolve("Query", "user") { request in
///     await users.find(request.string("id") ?? "")
///   }
///   schema.compute("User", "initials") { request in
///     String((request.parent("name")?.string ?? "").prefix(1))
///   }
///   schema.batch("User", "friends") { request in
///     await users.friends(of: request.sources)
///   }
/// }
/// ```
///
/// Fields without a resolver read the member of their name from their parent's value.
public struct Resolvers: Sendable {
  package var fields: [FieldName: FieldResolver] = [:]
  package var types: [String: @Sendable (ResolvedValue) -> String?] = [:]
  package var scalars: [String: ScalarRules] = [:]
  package var streams: [FieldName: StreamResolver] = [:]
  /// For object types that are stored records: the slot of each field.
  package var slots: [String: [String: Int]] = [:]

  /// A field of a type.
  package struct FieldName: Hashable, Sendable {
    package var type: String
    package var field: String

    package init(_ type: String, _ field: String) {
      self.type = type
      self.field = field
    }
  }

  /// No code: every field reads from its parent's value.
  public init() {}

  /// Finds a field's value with code that may wait. Siblings are asked at the same time, except for the fields of the
  /// mutation root, which are asked one after the other.
  public mutating func resolve<Value: Resolvable>(
    _ type: String, _ field: String,
    _ body: @escaping @concurrent @Sendable (FieldRequest) async throws -> Value
  ) {
    fields[FieldName(type, field)] = .waiting { request in try await body(request).resolved }
  }

  /// Finds a field's value with code that does not wait.
  public mutating func compute<Value: Resolvable>(
    _ type: String, _ field: String, _ body: @escaping @Sendable (FieldRequest) throws -> Value
  ) {
    fields[FieldName(type, field)] = .computed { request in try body(request).resolved }
  }

  /// Finds the field's values for all parents of one level of the response in a single call, so that a list of
  /// parents costs one query and not one each. The answer has one value per source, in the same order.
  public mutating func batch<Value: Resolvable>(
    _ type: String, _ field: String,
    _ body: @escaping @concurrent @Sendable (BatchRequest) async throws -> [Value]
  ) {
    fields[FieldName(type, field)] = .batched { request in try await body(request).map(\.resolved) }
  }

  /// Finds a list's items with a sequence, which may give them one by one over time. A client that asks for `@stream`
  /// gets each item when it comes; for others the sequence is read to its end first.
  ///
  /// The sequence is let go when it has ended or failed, when the client has gone, or when no more items are wanted.
  public mutating func list<Source: AsyncSequence & Sendable>(
    _ type: String, _ field: String, _ body: @escaping @concurrent @Sendable (FieldRequest) async throws -> Source
  ) where Source.Element: Resolvable & Sendable {
    fields[FieldName(type, field)] = .sequence { request in SourceStream(try await body(request)) }
  }

  /// Opens the stream of a field of the subscription root. Each element is the field's value in one response,
  /// unless the field also has a resolver, whose parent the element then is.
  ///
  /// Every new subscription starts a new stream. One that can start at a position has it as an argument of its field.
  public mutating func stream<Source: AsyncSequence & Sendable>(
    _ type: String, _ field: String,
    _ body: @escaping @concurrent @Sendable (FieldRequest) async throws -> Source
  ) where Source.Element: Resolvable & Sendable {
    streams[FieldName(type, field)] = { request in SourceStream(try await body(request)) }
  }

  /// Names the object type of a value where a field's type is the interface or union `abstractType`. Needed for
  /// values that do not say it themselves.
  public mutating func type(of abstractType: String, _ body: @escaping @Sendable (ResolvedValue) -> String?) {
    types[abstractType] = body
  }

  /// Reads and writes the values of a custom scalar. Both closures throw `ResolverError` for a value they refuse.
  /// Without them any JSON value passes.
  public mutating func scalar(
    _ name: String, parse: @escaping @Sendable (JSONValue) throws -> JSONValue = { $0 },
    serialize: @escaping @Sendable (JSONValue) throws -> JSONValue = { $0 }
  ) {
    scalars[name] = ScalarRules(isUserCode: true, parse: parse, serialize: serialize)
  }

  /// Uses `resolver` for a field. For code of the library itself.
  package mutating func use(_ resolver: FieldResolver, _ type: String, _ field: String) {
    fields[FieldName(type, field)] = resolver
  }

  /// Takes over all of `other`; where both say something about the same name, `other` wins.
  public mutating func merge(_ other: Resolvers) {
    fields.merge(other.fields) { $1 }
    types.merge(other.types) { $1 }
    scalars.merge(other.scalars) { $1 }
    streams.merge(other.streams) { $1 }
    slots.merge(other.slots) { $1 }
  }
}
