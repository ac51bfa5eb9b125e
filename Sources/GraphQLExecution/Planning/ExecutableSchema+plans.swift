package import MartletGraphQLLanguage
package import MartletJSON

extension ExecutableSchema {
  /// Plans the operation called `operationName`, or the only one, of a document that has been validated.
  ///
  /// - Throws: a request error when the document has no such operation.
  package func plan(_ document: Document, operationName: String?) throws(GraphQLError) -> OperationPlan {
    let operations = document.operations
    let operation: OperationDefinition
    if let operationName {
      guard let named = operations.first(where: { $0.name?.text.utf8.elementsEqual(operationName.utf8) ?? false })
      else {
        throw GraphQLError(message: "Unknown operation named '\(operationName)'.")
      }
      operation = named
    } else if let first = operations.first {
      guard operations.count == 1 else {
        throw GraphQLError(message: "Must provide operation name if query contains multiple operations.")
      }
      operation = first
    } else {
      throw GraphQLError(message: "Must provide an operation.")
    }
    guard let root = schema.rootType(operation.kind) else {
      throw GraphQLError(
        message: "Schema is not configured to execute \(operation.kind.rawValue) operation.",
        locations: [operation.location.source].compactMap { $0 })
    }
    let fragments = Dictionary(document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    return OperationPlan(
      schema: self, operation: operation, root: root, fragments: fragments,
      variables: try variablePlans(of: operation))
  }

  private func variablePlans(of operation: OperationDefinition) throws(GraphQLError) -> [VariablePlan] {
    var result: [VariablePlan] = []
    for variable in operation.variables {
      guard let type = schema.resolve(variable.type), schema[type.named].isInput else {
        throw GraphQLError(
          message: "Variable '$\(variable.name.text)' expected value of type '\(Printer.text(of: variable.type))'"
            + " which cannot be used as an input type.",
          locations: [variable.type.location.source].compactMap { $0 })
      }
      result.append(
        VariablePlan(
          name: variable.name.text, type: type,
          defaultValue: variable.defaultValue.flatMap { types.coerce(literal: $0, to: type, variables: nil) },
          location: variable.location.source))
    }
    return result
  }

  /// Whether some field runs code of the program that uses the library.
  var hasUserCode: Bool {
    resolvers.fields.values.contains(where: \.runsUserCode) || resolvers.scalars.values.contains(where: \.isUserCode)
      || !resolvers.types.isEmpty
  }

  /// Whether some field answers later.
  var hasDeferredFields: Bool {
    resolvers.fields.values.contains(where: \.isDeferred)
  }
}

extension OperationPlan {
  /// Coerces a request's variables (section 6.1.2 "Coercing Variable Values").
  ///
  /// - Throws: every variable's faults, up to the limit; or that their values make lists too long.
  package func coerce(variables given: JSONObject) throws(VariableErrors) -> JSONObject {
    var result = JSONObject()
    var errors: [GraphQLError] = []
    let limit = schema.limits.variableErrors
    for variable in variables {
      guard let value = given[variable.name] else {
        if let defaultValue = variable.defaultValue {
          result[variable.name] = defaultValue
        } else if variable.type.isNonNull {
          let type = schema.schema.describe(variable.type)
          errors.append(error(variable, "Expected a value of non-null type '\(type)' to be provided."))
        }
        continue
      }
      let coerced = schema.types.coerce(value, to: variable.type) { message, path in
        errors.append(self.error(variable, message, path))
      }
      if let coerced { result[variable.name] = coerced }
    }
    if errors.isEmpty, let error = cost.refusal(of: result) { errors.append(error) }
    if errors.isEmpty { return result }
    if errors.count > limit {
      errors.removeLast(errors.count - limit)
      errors.append(
        GraphQLError(message: "Too many errors processing variables, error limit reached. Execution aborted."))
    }
    throw VariableErrors(errors: errors)
  }

  private func error(_ variable: VariablePlan, _ message: String, _ path: InputPath = InputPath()) -> GraphQLError {
    GraphQLError(
      message: "Variable '$\(variable.name)' has invalid value\(path.phrase): \(message)",
      locations: [variable.location].compactMap { $0 })
  }
}

/// What is wrong with a request's variables. Never empty.
package struct VariableErrors: Error, Sendable {
  package var errors: [GraphQLError]
}
