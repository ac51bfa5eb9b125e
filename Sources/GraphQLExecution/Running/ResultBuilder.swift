import MartletGraphQLLanguage
import MartletJSON

/// Fills the result tree of one execution: executes fields and completes their values (section 6.4). What has to wait
/// for a resolver goes to `queue`, what is delivered later to `delivery`.
struct ResultBuilder {
  let schema: ExecutableSchema
  let plan: OperationPlan
  let variables: JSONObject
  let context: RequestContext
  /// What is delivered later; nil when the response is delivered whole.
  let delivery: Delivery?

  /// The open positions from the root to where execution is.
  var steps: [ResultStep] = []
  var errors: [ResponseError] = []
  /// Errors beyond the limit.
  private(set) var droppedErrors = 0
  var listItems = 0
  var queue = WorkQueue()

  init(
    _ plan: OperationPlan, variables: JSONObject, context: RequestContext, delivery: Delivery?
  ) {
    self.plan = plan
    self.variables = variables
    self.context = context
    self.delivery = delivery
    schema = plan.schema
  }

  /// Notes a call that the field at the current position waits for.
  mutating func enqueue(_ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, wanted: Int = 0) {
    let isBatch: Bool
    switch field.resolver {
    case .batched, .callback: isBatch = true
    case .property, .parent, .builtIn, .computed, .waiting, .sequence: isBatch = false
    }
    delivery?.current?.waiting += 1
    guard isBatch else {
      queue.add(
        FieldWork(
          field: field, isBatch: false, arguments: arguments, context: context, sources: [source], places: [steps],
          path: path, wanted: wanted))
      return
    }
    queue.addToBatch(field, source, arguments, context, at: steps)
  }

  // MARK: Errors

  /// The response position where execution is.
  var path: [GraphQLError.PathElement] {
    let steps: [GraphQLError.PathElement] = steps.map { step in
      if let selection = step.container.selection { return .key(selection.fields[step.index].responseName) }
      return .index(step.index)
    }
    guard let part = delivery?.current else { return steps }
    switch part.content {
    case .fields: return part.path + steps
    case .item(_, let index): return part.path + [.index(index)] + steps.dropFirst()
    }
  }

  mutating func report(_ message: String, _ locations: [SourceLocation]) {
    guard hasRoomForError() else { return }
    report(ResponseError(message, locations: locations, path: path))
  }

  /// Whether one more error is kept; otherwise it is counted only.
  private mutating func hasRoomForError() -> Bool {
    if let delivery, let part = delivery.current {
      // A part that fails has to say why.
      return delivery.errorCount < schema.limits.errors || part.errors.isEmpty
    }
    if errors.count < schema.limits.errors { return true }
    droppedErrors += 1
    return false
  }

  private mutating func report(_ error: ResponseError) {
    if let delivery, let part = delivery.current {
      delivery.errorCount += 1
      part.errors.append(error)
    } else {
      errors.append(error)
    }
  }

  mutating func reportNull(_ field: FieldPlan) -> ResultValue? {
    report(
      "Cannot return null for non-nullable field \(field.parentName).\(field.name).", field.locations)
    return nil
  }

  /// Reports an error of a resolver; null where the field may be null.
  mutating func fail(_ error: any Error, _ field: FieldPlan) -> ResultValue? {
    reportError(error, field)
    return field.isNonNull ? nil : .null
  }

  mutating func fail(_ message: String, _ field: FieldPlan) -> ResultValue? {
    report(message, field.locations)
    return field.isNonNull ? nil : .null
  }

  mutating func reportError(_ error: any Error, _ field: FieldPlan) {
    switch error {
    case let fault as PlanFault:
      report(fault.message, fault.locations)
    case let failure as CoercionFailure:
      report(failure.message, field.locations)
    default:
      // What the program is to be notified of must not depend on the room that is left.
      let shown = plan.responseError(for: error, of: field, locations: field.locations, path: path)
      if hasRoomForError() { report(shown) }
    }
  }
}
