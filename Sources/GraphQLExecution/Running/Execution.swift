import MartletGraphQLLanguage
package import MartletJSON

/// One run of one operation: decides what to ask and builds the result tree; never waits and starts no task.
///
/// `start` runs everything that needs no waiting. Then, until `isFinished`: take the work that has become possible with
/// `takeWork`, have it done in whatever way suits the caller, and hand in the answers with `complete`. Confined to the
/// task or loop that made it.
package final class Execution {
  let schema: ExecutableSchema
  let plan: OperationPlan
  let variant: PlanVariant
  let variables: JSONObject
  let context: RequestContext
  let rootValue: ResolvedValue

  /// The open positions from the root to where execution is.
  var steps: [Step] = []
  var root: ResultContainer?
  var dataIsNull = false
  var errors: [ResponseError] = []
  private var droppedErrors = 0
  var listItems = 0
  /// What is delivered later; nil when the response is delivered whole.
  let delivery: Delivery?

  /// Calls that can be made at once.
  var single: [FieldWork] = []
  /// Fields that wait for a call over all their parents, in order of first need.
  var batches: [FieldWork] = []
  var batchIndex: [ObjectIdentifier: Int] = [:]
  var running: [Int: FieldWork] = [:]
  var runningSingles = 0
  private var nextWork = 0
  private var nextRootField = 0

  /// A position in the result tree.
  struct Step {
    var container: ResultContainer
    var index: Int
    /// Whether null may stand here.
    var isNullable: Bool
  }

  /// Prepares a run with variables that `plan` has coerced.
  package init(
    _ plan: OperationPlan, variant: PlanVariant, variables: JSONObject, context: RequestContext = RequestContext(),
    root: ResolvedValue = .null
  ) {
    self.plan = plan
    self.variant = variant
    self.variables = variables
    self.context = context
    schema = plan.schema
    rootValue = root
    delivery = variant.isIncremental ? Delivery() : nil
  }

  /// Whether no pending work is left.
  package var isFinished: Bool {
    running.isEmpty && single.isEmpty && batches.isEmpty
      && (nextRootField >= variant.selection.fields.count || dataIsNull)
  }

  /// Runs all that needs no waiting.
  package func start() {
    let container = ResultContainer(variant.selection)
    root = container
    if let fault = variant.selection.fault {
      report(fault.message, fault.locations)
      dataIsNull = true
      return
    }
    if let delivery, let deferral = variant.selection.deferral {
      delivery.note(
        Discovery(
          content: .deferral(deferral, source: rootValue),
          place: [Step(container: container, index: 0, isNullable: false)], path: []))
    }
    advance()
  }

  /// Executes root fields: all of a query's, and a mutation's one after the other (section 6.2.2 "Mutation").
  private func advance() {
    guard let root else { return }
    let isSerial = plan.kind == .mutation
    while nextRootField < variant.selection.fields.count, !dataIsNull {
      if isSerial, !(running.isEmpty && single.isEmpty && batches.isEmpty) { return }
      let index = nextRootField
      nextRootField += 1
      if !executeField(variant.selection.fields[index], at: index, in: root, of: rootValue) { dataIsNull = true }
    }
    if dataIsNull {
      single.removeAll()
      batches.removeAll()
      batchIndex.removeAll()
    }
  }

  // MARK: Work

  /// The calls that can be made now. Batches are held back until no single call is under way, since its answer may
  /// add parents to them.
  package func takeWork() -> [FieldWork] {
    if delivery != nil { startReleased() }
    var result: [FieldWork] = []
    for work in single {
      if work.list != nil {
        result.append(work)
      } else if isAttached(work.places[0]) {
        countCalls(of: work, 1)
        result.append(work)
      } else if let part = delivery?.part(of: work.places[0]) {
        settle(part)
      }
    }
    single.removeAll()
    if delivery != nil {
      takeReadyBatches(&result)
    } else if runningSingles == 0 {
      for var work in batches {
        work.keep { isAttached($0) }
        if !work.places.isEmpty { result.append(work) }
      }
      batches.removeAll()
      batchIndex.removeAll()
    }
    for index in result.indices {
      result[index].id = nextWork
      running[nextWork] = result[index]
      nextWork += 1
    }
    if result.isEmpty, running.isEmpty {
      // Everything that was waited for has been dropped with a null above it.
      advance()
      if !(single.isEmpty && batches.isEmpty) { return takeWork() }
    }
    return result
  }

  /// Hands in the answers to one call: one per parent, in order.
  package func complete(_ id: Int, _ results: ResolverResults) {
    guard let work = running.removeValue(forKey: id) else { return }
    if let list = work.list { return answered(list, results) }
    countCalls(of: work, -1)
    for (index, place) in work.places.enumerated() {
      let part = delivery?.part(of: place)
      guard isAttached(place), let last = place.last else {
        if let part { settle(part) }
        continue
      }
      steps = place
      delivery?.current = part
      let value: ResultValue?
      if results.count != work.places.count {
        value = fail(
          "The resolver of '\(work.field.parentName).\(work.field.name)' gave \(results.count) values for"
            + " \(work.places.count) parents.", work.field)
      } else {
        switch results[index] {
        case .success(let resolved): value = completePosition(resolved, work.field.type, work.field)
        case .failure(let error): value = fail(error, work.field)
        }
      }
      if let value {
        last.container.values[last.index] = value
      } else {
        propagateNull(from: place)
      }
      steps.removeAll()
      delivery?.current = nil
      if let part { settle(part) }
    }
    advance()
  }

  /// Ends the run: what is still waited for becomes null where it may, with one error.
  package func abandon(_ message: String) {
    errors.append(ResponseError(message))
    dataIsNull = true
    single.removeAll()
    batches.removeAll()
    running.removeAll()
  }

  func enqueue(_ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, wanted: Int = 0) {
    let isBatch: Bool
    switch field.resolver {
    case .batched, .callback: isBatch = true
    case .property, .parent, .builtIn, .computed, .waiting, .sequence: isBatch = false
    }
    delivery?.current?.waiting += 1
    guard isBatch else {
      single.append(
        FieldWork(
          field: field, isBatch: false, arguments: arguments, context: context, sources: [source], places: [steps],
          path: path, wanted: wanted))
      return
    }
    addToBatch(field, source, arguments, at: steps)
  }

  func addToBatch(_ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, at place: [Step]) {
    if let index = batchIndex[ObjectIdentifier(field)] {
      batches[index].places.append(place)
      batches[index].sources.append(source)
      return
    }
    batchIndex[ObjectIdentifier(field)] = batches.count
    batches.append(
      FieldWork(
        field: field, isBatch: true, arguments: arguments, context: context, sources: [source], places: [place],
        path: [], wanted: 0))
  }

  /// Whether a position is still part of the response, and not dropped with a null above it.
  func isAttached(_ place: [Step]) -> Bool {
    guard !dataIsNull, let first = place.first else { return false }
    if first.container !== root {
      guard let part = delivery?.part(of: place), part.isWanted else { return false }
    }
    for index in place.indices.dropLast() {
      let step = place[index]
      // An object that a null has ended before it was whole has no values.
      guard step.container.values.indices.contains(step.index),
        step.container.values[step.index].holds(place[index + 1].container)
      else { return false }
    }
    return true
  }

  private func propagateNull(from place: [Step]) {
    for step in place.reversed() where step.isNullable {
      step.container.values[step.index] = .null
      return
    }
    if let part = delivery?.current { part.isNull = true } else { dataIsNull = true }
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

  func report(
    _ message: String, _ locations: [SourceLocation], extensions: JSONObject = JSONObject()
  ) {
    if let delivery, let part = delivery.current {
      // A part that fails has to say why.
      guard delivery.errorCount < schema.limits.errors || part.errors.isEmpty else { return }
      delivery.errorCount += 1
      part.errors.append(ResponseError(message, locations: locations, path: path, extensions: extensions))
      return
    }
    guard errors.count < schema.limits.errors else {
      droppedErrors += 1
      return
    }
    errors.append(ResponseError(message, locations: locations, path: path, extensions: extensions))
  }

  /// The finished response.
  package var result: ResponseTree {
    var all = errors
    if droppedErrors > 0 {
      all.append(ResponseError("\(droppedErrors) more errors were left out of this response."))
    }
    // Without a decision on what is selected nothing was executed.
    guard variant.selection.fault == nil else { return ResponseTree(data: nil, errors: all) }
    let data: ResultValue = dataIsNull ? .null : root.map { .object($0) } ?? .null
    return ResponseTree(data: data, errors: all)
  }
}
