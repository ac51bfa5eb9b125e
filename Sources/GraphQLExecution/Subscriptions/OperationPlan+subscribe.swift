import MartletGraphQLLanguage
package import MartletJSON

extension OperationPlan {
  /// The field a subscription selects, with its coerced arguments (section 6.2.3.1 "Source Stream").
  ///
  /// - Throws: what is wrong with the request.
  package func subscribedField(
    variables: JSONObject
  ) throws(SubscriptionError) -> (field: FieldPlan, arguments: JSONObject) {
    func refuse(_ fault: PlanFault, _ field: FieldPlan?) -> SubscriptionError {
      SubscriptionError(
        ResponseError(fault.message, locations: fault.locations, path: field.map { [.key($0.responseName)] } ?? []))
    }
    let selection = variant(for: variables).selection
    if let fault = selection.fault { throw refuse(fault, nil) }
    guard kind == .subscription, let field = selection.fields.first else {
      throw refuse(PlanFault(message: "Expected subscription operation.", locations: []), nil)
    }
    switch field.arguments {
    case .none: return (field, JSONObject())
    case .constant(let arguments): return (field, arguments)
    case .fault(let fault): throw refuse(fault, field)
    case .variable(let sources):
      do {
        return (
          field,
          try schema.types.arguments(
            sources, variables: variables, location: field.location)
        )
      } catch {
        throw refuse(error, field)
      }
    }
  }

  /// Opens the source stream and returns the responses made from its events.
  @concurrent
  package func subscribe(
    variables given: JSONObject, context: RequestContext = RequestContext(), place: UserCodePlace = .pool
  ) async throws(SubscriptionError) -> ResponseStream {
    let variables: JSONObject
    do {
      variables = try coerce(variables: given)
    } catch {
      throw SubscriptionError(ExecutionResult(.requestError(error.errors)))
    }
    let (field, arguments) = try subscribedField(variables: variables)
    guard let resolver = schema.resolvers.streams[Resolvers.FieldName(root.name, field.name)] else {
      throw SubscriptionError(
        ResponseError(
          "The subscription field '\(root.name).\(field.name)' has no source stream.",
          locations: field.locations, path: [.key(field.responseName)]))
    }
    let request = FieldRequest(
      source: .null, arguments: arguments, context: context, typeName: root.name, fieldName: field.name,
      path: [.key(field.responseName)])
    let opened: Result<SourceStream, any Error> = await place.run {
      do {
        return .success(try await resolver(request))
      } catch {
        return .failure(error)
      }
    }
    switch opened {
    case .success(let source):
      return ResponseStream(plan: self, variables: variables, context: context, source: source, place: place)
    case .failure(let error):
      let reported = responseError(
        for: error, field: "\(root.name).\(field.name)", locations: field.locations,
        path: [.key(field.responseName)])
      throw SubscriptionError(reported)
    }
  }
}
