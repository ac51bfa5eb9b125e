internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage

/// A planned operation and the canonical bytes of its document, which subscriptions of one group share.
package struct PreparedOperation: Sendable {
  let plan: OperationPlan
  let canonical: [UInt8]
}

extension LoopHub {
  /// Parses, validates and plans a request, or answers what is kept from an equal one.
  func prepare(_ query: String, operationName: String?) throws(RequestErrors) -> PreparedOperation {
    let document = Array(query.utf8)
    if let known = plans.plan(document: document, operation: operationName) {
      counters.add(.planHits)
      return known
    }
    counters.add(.planMisses)
    let plan = try node.schema.makePlan(document, operationName: operationName)
    var canonical: [UInt8] = []
    // It parsed a moment ago; printing drops what carries no meaning, so that equal documents become equal bytes.
    if plan.kind == .subscription, let parsed = try? Parser.parse(document) {
      canonical = Array(Printer.text(of: parsed).utf8)
    }
    let prepared = PreparedOperation(plan: plan, canonical: canonical)
    plans.keep(prepared, document: document, operation: operationName)
    return prepared
  }
}
