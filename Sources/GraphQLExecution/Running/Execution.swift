import MartletGraphQLLanguage
package import MartletJSON

/// One run of one operation: decides what to ask and builds the result tree; never waits and starts no task.
///
/// `start` runs everything that needs no waiting. Then, until `isFinished`: take the work that has become possible with
/// `takeWork`, have it done in whatever way suits the caller, and hand in the answers with `complete`. Confined to the
/// task or loop that made it.
package final class Execution {
  let plan: OperationPlan
  private let variant: PlanVariant
  private let rootValue: ResolvedValue
  /// What is delivered later; nil when the response is delivered whole.
  let delivery: Delivery?

  /// The tree, as far as it is filled, and the calls that it waits for.
  var tree: ResultBuilder
  private(set) var root: ResultContainer?
  private var dataIsNull = false
  /// Calls under way whose answers may add parents to batches of the initial part.
  var runningSingles = 0
  private var nextRootField = 0

  /// Prepares a run with variables that `plan` has coerced.
  package init(
    _ plan: OperationPlan, variant: PlanVariant, variables: JSONObject, context: RequestContext = RequestContext(),
    root: ResolvedValue = .null
  ) {
    self.plan = plan
    self.variant = variant
    rootValue = root
    delivery = variant.isIncremental ? Delivery(openParts: plan.schema.limits.openParts) : nil
    tree = ResultBuilder(plan, variables: variables, context: context, delivery: delivery)
  }

  /// Whether no pending work is left.
  package var isFinished: Bool {
    tree.queue.isEmpty && (nextRootField >= variant.selection.fields.count || dataIsNull)
  }

  /// Runs all that needs no waiting.
  package func start() {
    let container = ResultContainer(variant.selection)
    root = container
    if let fault = variant.selection.fault {
      tree.report(fault.message, fault.locations)
      dataIsNull = true
      return
    }
    if let delivery, let deferral = variant.selection.deferral {
      delivery.note(
        Discovery(
          content: .deferral(deferral, source: rootValue),
          place: [ResultStep(container: container, index: 0, isNullable: false)], path: []))
    }
    advance()
  }

  /// Executes root fields: all of a query's, and a mutation's one after the other (section 6.2.2 "Mutation").
  private func advance() {
    guard let root else { return }
    let isSerial = plan.kind == .mutation
    while nextRootField < variant.selection.fields.count, !dataIsNull {
      if isSerial, !tree.queue.isEmpty { return }
      let index = nextRootField
      nextRootField += 1
      if !tree.executeField(variant.selection.fields[index], at: index, in: root, of: rootValue) { dataIsNull = true }
    }
    if dataIsNull { tree.queue.dropWaiting() }
  }

  // MARK: Work

  /// The calls that can be made now. Batches are held back until no single call is under way, since its answer may
  /// add parents to them.
  package func takeWork() -> [FieldWork] {
    if delivery != nil { startReleased() }
    var result: [FieldWork] = []
    for work in tree.queue.takeSingles() {
      if work.list != nil {
        result.append(work)
      } else if isAttached(work.places[0]) {
        countCalls(of: work, 1)
        result.append(work)
      } else if let part = delivery?.part(of: work.places[0]) {
        settle(part)
      }
    }
    if delivery != nil {
      takeReadyBatches(&result)
    } else if runningSingles == 0 {
      let batches = tree.queue.takeBatches()
      for work in batches { work.keep { isAttached($0) } }
      if result.isEmpty, batches.allSatisfy({ !$0.places.isEmpty }) {
        result = batches
      } else {
        result += batches.filter { !$0.places.isEmpty }
      }
    }
    tree.queue.begin(result)
    if result.isEmpty, !tree.queue.hasRunning {
      // Everything that was waited for has been dropped with a null above it.
      advance()
      if tree.queue.hasWaiting { return takeWork() }
    }
    return result
  }

  /// Hands in the answers to one call: one per parent, in order.
  package func complete(_ id: Int, _ results: ResolverResults) {
    guard let work = tree.queue.finish(id) else { return }
    if let list = work.list { return answered(list, results) }
    countCalls(of: work, -1)
    for (index, place) in work.places.enumerated() {
      let part = delivery?.part(of: place)
      guard isAttached(place), let last = place.last else {
        if let part { settle(part) }
        continue
      }
      tree.steps = place
      delivery?.current = part
      let value: ResultValue?
      if results.count != work.places.count {
        value = tree.fail(
          "The resolver of '\(work.field.parentName).\(work.field.name)' gave \(results.count) values for"
            + " \(work.places.count) parents.", work.field)
      } else {
        switch results[index] {
        case .success(let resolved): value = tree.completePosition(resolved, work.field.type, work.field)
        case .failure(let error): value = tree.fail(error, work.field)
        }
      }
      if let value {
        last.container.values[last.index] = value
      } else {
        propagateNull(from: place)
      }
      tree.steps.removeAll()
      delivery?.current = nil
      if let part { settle(part) }
    }
    advance()
  }

  /// Ends the run: what is still waited for becomes null where it may, with one error.
  package func abandon(_ message: String) {
    tree.errors.append(ResponseError(message))
    dataIsNull = true
    tree.queue.dropAll()
  }

  /// Whether a position is still part of the response, and not dropped with a null above it.
  func isAttached(_ place: [ResultStep]) -> Bool {
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

  private func propagateNull(from place: [ResultStep]) {
    for step in place.reversed() where step.isNullable {
      step.container.values[step.index] = .null
      return
    }
    if let part = delivery?.current { part.isNull = true } else { dataIsNull = true }
  }

  /// The finished response.
  package var result: ResponseTree {
    var all = tree.errors
    if tree.droppedErrors > 0 {
      all.append(ResponseError("\(tree.droppedErrors) more errors were left out of this response."))
    }
    // Without a decision on what is selected nothing was executed.
    guard variant.selection.fault == nil else { return ResponseTree(data: nil, errors: all) }
    let data: ResultValue = dataIsNull ? .null : root.map { .object($0) } ?? .null
    return ResponseTree(data: data, errors: all)
  }
}
