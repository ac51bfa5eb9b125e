package import MartletGraphQLLanguage
public import MartletJSON

extension ExecutableSchema {
  /// Executes a query or mutation. What is wrong with the request is part of the response.
  @concurrent
  public func execute(
    _ document: String, operationName: String? = nil, variables: JSONObject = JSONObject(),
    context: RequestContext = RequestContext()
  ) async -> ExecutionResult {
    do {
      let plan = try prepare(
        Array(document.utf8), operationName: operationName, suggests: context.allowsIntrospection)
      guard plan.kind != .subscription else {
        return ExecutionResult(
          .requestError([GraphQLError(message: "A subscription has many responses; use subscribe.")]))
      }
      return ExecutionResult(await plan.execute(variables: variables, context: context))
    } catch {
      return ExecutionResult(.requestError(error.errors))
    }
  }

  /// Parses, validates and plans a request, or answers the plan kept from an equal one. For any thread.
  package func prepare(
    _ document: [UInt8], operationName: String?, suggests: Bool? = nil
  ) throws(RequestErrors) -> OperationPlan {
    if let known = plans.plan(document: document, operation: operationName) { return known }
    let plan = try makePlan(document, operationName: operationName, suggests: suggests)
    if document.count <= limits.cachedDocumentBytes {
      plans.keep(plan, document: document, operation: operationName)
    }
    return plan
  }

  /// The same with the caller's own cache, which needs no lock.
  package func prepare(
    _ document: [UInt8], operationName: String?, cache: inout PlanCache<OperationPlan>
  ) throws(RequestErrors) -> OperationPlan {
    if let known = cache.plan(document: document, operation: operationName) { return known }
    let plan = try makePlan(document, operationName: operationName)
    if document.count <= limits.cachedDocumentBytes {
      cache.keep(plan, document: document, operation: operationName)
    }
    return plan
  }

  /// Parses, validates and plans a request.
  ///
  /// - Parameter suggests: Whether errors say what a misspelt name may have meant; nil for callers that may ask for the
  ///   schema as its configuration says.
  package func makePlan(
    _ source: [UInt8], operationName: String?, suggests: Bool? = nil
  ) throws(RequestErrors) -> OperationPlan {
    let document: Document
    do {
      document = try Parser.parse(source, limits: limits.parsing)
    } catch {
      throw RequestErrors(errors: [error.graphQLError])
    }
    let errors = Validator.validate(
      document, against: schema, limits: limits.validation, suggests: suggests ?? allowsIntrospection)
    guard errors.isEmpty else { throw RequestErrors(errors: errors) }
    do {
      return try plan(document, operationName: operationName)
    } catch {
      throw RequestErrors(errors: [error])
    }
  }
}

/// Why a request is not executed. Never empty.
package struct RequestErrors: Error, Sendable {
  package var errors: [GraphQLError]

  package init(errors: [GraphQLError]) {
    self.errors = errors
  }
}
