public import MartletGraphQLLanguage

/// A schema with its resolvers: turns requests into responses.
public final class ExecutableSchema: Sendable {
  package let schema: Schema
  package let types: TypeTable
  package let resolvers: Resolvers
  /// Bounds on one operation.
  public let limits: ExecutionLimits
  /// How much of unexpected errors clients see.
  public let exposure: ErrorExposure
  /// Called with every error that is not meant for clients, on the thread that reports it.
  package let onUnexpectedError: (@Sendable (UnexpectedError) -> Void)?
  /// Whether clients may ask what the schema looks like.
  public let allowsIntrospection: Bool
  /// Whether requests may use `@defer` and `@stream`. Off by default: the directives are a proposal.
  public var allowsIncrementalDelivery: Bool { schema.options.incrementalDelivery }
  package let introspection: IntrospectionModel
  let plans: SharedPlanCache
  /// Resolver and slot of each field, by the numbers of the type and the field: planning asks for every field.
  private let code: [[FieldCode]]

  /// What belongs to one field of an object type.
  struct FieldCode: Sendable {
    var resolver: FieldResolver?
    var slot: Int?
  }

  /// Resolves the type system text `source` and attaches the code that `configure` names.
  ///
  /// - Throws: `ExecutableSchemaError`, when the text is not a valid type system or code is attached to a type or
  ///   field that it does not have.
  public convenience init(
    _ source: String, limits: ExecutionLimits = ExecutionLimits(), exposure: ErrorExposure = .masked,
    allowsIntrospection: Bool = true, allowsIncrementalDelivery: Bool = false,
    configure: (inout Resolvers) -> Void = { _ in }
  ) throws(ExecutableSchemaError) {
    var resolvers = Resolvers()
    configure(&resolvers)
    let schema: Schema
    do {
      schema = try Schema.build(
        source, options: SchemaOptions(incrementalDelivery: allowsIncrementalDelivery))
    } catch {
      throw ExecutableSchemaError(errors: error.errors)
    }
    try self.init(
      schema, resolvers: resolvers, limits: limits, exposure: exposure, allowsIntrospection: allowsIntrospection)
  }

  /// Attaches `resolvers` to a schema.
  package init(
    _ schema: Schema, resolvers: Resolvers, limits: ExecutionLimits = ExecutionLimits(),
    exposure: ErrorExposure = .masked, allowsIntrospection: Bool = true,
    onUnexpectedError: (@Sendable (UnexpectedError) -> Void)? = nil
  ) throws(ExecutableSchemaError) {
    let misplaced = Self.misplaced(resolvers, in: schema)
    guard misplaced.isEmpty else {
      throw ExecutableSchemaError(errors: misplaced.map { GraphQLError(message: $0) })
    }
    self.schema = schema
    self.resolvers = resolvers
    self.limits = limits
    self.exposure = exposure
    self.onUnexpectedError = onUnexpectedError
    types = TypeTable(schema, scalars: resolvers.scalars)
    self.allowsIntrospection = allowsIntrospection
    introspection = IntrospectionModel(schema, isOpen: allowsIntrospection)
    plans = SharedPlanCache(capacity: limits.cachedPlans)
    code = schema.types.map { type in
      guard type.kind == .object else { return [] }
      return type.fields.map { field in
        FieldCode(
          resolver: type.isIntrospection
            ? IntrospectionModel.fieldResolver : resolvers.fields[Resolvers.FieldName(type.name, field.name)],
          slot: resolvers.slots[type.name]?[field.name])
      }
    }
  }

  /// The code behind `field` of the object type `type`; empty for the meta fields.
  func code(of field: SchemaField, on type: NamedType) -> FieldCode {
    field.index < 0 ? FieldCode() : code[type.id.index][field.index]
  }

  /// The fields of the root types that have no code: neither a resolver nor a source, such as `Query.forecast`.
  package var rootFieldsWithoutCode: [String] {
    let subscription = schema.subscriptionType?.name
    return [schema.queryType, schema.mutationType, schema.subscriptionType].compactMap { $0 }.flatMap { root in
      root.fields.compactMap { field in
        let name = Resolvers.FieldName(root.name, field.name)
        let hasStream = root.name == subscription && resolvers.streams[name] != nil
        return resolvers.fields[name] == nil && !hasStream ? "\(root.name).\(field.name)" : nil
      }
    }
  }

  private static func misplaced(_ resolvers: Resolvers, in schema: Schema) -> [String] {
    var messages: [String] = []
    for name in Array(resolvers.fields.keys) + Array(resolvers.streams.keys) {
      let type = schema.type(name.type)
      if type?.kind != .object {
        messages.append("A resolver names '\(name.type)', which is not an object type of the schema.")
      } else if type?.field(name.field) == nil {
        messages.append("A resolver names '\(name.type).\(name.field)', which is not a field of the schema.")
      }
    }
    for name in resolvers.streams.keys where name.type != schema.subscriptionType?.name {
      messages.append("A stream names '\(name.type).\(name.field)', which is not on the subscription root.")
    }
    for name in resolvers.types.keys where schema.type(name)?.isAbstract != true {
      messages.append("A type resolver names '\(name)', which is not an interface or union of the schema.")
    }
    for name in resolvers.scalars.keys where schema.type(name)?.kind != .scalar {
      messages.append("Scalar code names '\(name)', which is not a scalar of the schema.")
    }
    return messages.sorted()
  }
}

/// Why a schema cannot be executed. Never empty.
public struct ExecutableSchemaError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, with the places in the schema's text.
  public var errors: [GraphQLError]

  /// One error a line.
  public var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}
