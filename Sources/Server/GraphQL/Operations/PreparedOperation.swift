internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletModelSDL
internal import MartletVocabulary

/// A document's plan and its canonical bytes, which equal documents share.
struct PlannedDocument: Sendable {
  let plan: OperationPlan
  /// Empty for queries and mutations.
  let canonical: [UInt8]
  /// Its estimated cost with the defaults of its variables; 0 where callers have no quota of it.
  let cost: Int
  /// Whether a request's variables can change the cost.
  private let costDependsOnVariables: Bool
  /// The cost that an operation may have, where responses say it and their operation's.
  private let allowedCost: Int?
  /// The extensions of a response that say the cost; nil where responses do not say it.
  private let shownCost: JSONObject?
  /// What a subscription selects of a record, where its variables decide nothing about that.
  var selection: PlannedSelection

  /// Parses, validates and plans a document. From any thread.
  ///
  /// - Parameters:
  ///   - suggests: Whether errors say what a misspelt name may have meant; nil for what the schema's configuration
  ///     says.
  ///   - countsCost: Whether the cost is estimated.
  ///   - allowedCost: The cost that an operation may have, where responses say both; nil where they do not.
  init(
    _ query: String, operationName: String?, under served: ServedSchema, suggests: Bool?, countsCost: Bool,
    allowedCost: Int?
  ) throws(RequestErrors) {
    let document = Array(query.utf8)
    let plan = try served.schema.makePlan(document, operationName: operationName, suggests: suggests)
    self.plan = plan
    var canonical: [UInt8] = []
    // It parsed a moment ago; printing drops what carries no meaning, so that equal documents become equal bytes.
    if plan.kind == .subscription, let parsed = try? Parser.parse(document) {
      canonical = Array(Printer.text(of: parsed).utf8)
    }
    let cost = countsCost ? plan.cost.estimate(JSONObject()) : 0
    self.canonical = canonical
    self.cost = cost
    costDependsOnVariables = countsCost && plan.cost.dependsOnVariables
    self.allowedCost = allowedCost
    shownCost = allowedCost.map { Self.shown(cost, allowed: $0) }
    selection = PlannedSelection(plan)
  }

  private static func shown(_ cost: Int, allowed: Int) -> JSONObject {
    ["martlet": ["cost": ["estimated": .int(Int64(cost)), "allowed": .int(Int64(allowed))]]]
  }

  /// The estimated cost with a request's variables, and the extensions that say it.
  func cost(_ variables: JSONObject) -> (cost: Int, shown: JSONObject?) {
    guard costDependsOnVariables else { return (cost, shownCost) }
    let cost = plan.cost.estimate(variables)
    return (cost, allowedCost.map { Self.shown(cost, allowed: $0) })
  }
}

/// What a plan selects of a changed record: read from the plan once for all subscriptions with the same document.
enum PlannedSelection: Sendable {
  /// The values of variables decide which fields are selected.
  case byVariables
  /// Nil where the record alone does not answer the selection.
  case same(RecordSelection?)

  init(_ plan: OperationPlan) {
    guard plan.kind == .subscription, !plan.hasSeveralVariants else {
      self = .byVariables
      return
    }
    self = .same(RecordSelection(plan, variables: JSONObject()))
  }
}

/// An operation that is ready to run: planned, and with the scope of its request.
struct PreparedOperation: Sendable {
  let plan: OperationPlan
  let canonical: [UInt8]
  let selection: PlannedSelection
  /// Its estimated cost; 0 where callers have no quota of it.
  let cost: Int
  /// The extensions of a response that say the cost; nil where responses do not say it.
  let shownCost: JSONObject?
  let scope: RequestScope

  /// A result with what the server adds to it: over HTTP, that it remembers write numbers, as `connection_ack` says on
  /// a socket; in development, the cost.
  func marked(_ result: ResponseTree) -> ResponseTree {
    guard scope.writeNumber != nil || shownCost != nil else { return result }
    var result = result
    if scope.writeNumber == nil, result.extensions.isEmpty, let shownCost {
      result.extensions = shownCost
      return result
    }
    var member = result.extensions["martlet"]?.object ?? JSONObject()
    if scope.writeNumber != nil { member["writes"] = true }
    if let cost = shownCost?["martlet"]?["cost"] { member["cost"] = cost }
    result.extensions["martlet"] = .object(member)
    return result
  }
}

extension PreparedOperation {
  /// The same for a response in parts: its first payload is marked.
  func marked(_ payload: IncrementalPayload) -> IncrementalPayload {
    switch payload {
    case .whole(let tree): .whole(marked(tree))
    case .initial(let tree, let update): .initial(marked(tree), update)
    case .update: payload
    }
  }
}

/// Why an operation is not run.
enum Refusal: Error {
  /// It names a document by a hash, and there is none or may be none.
  case persisted(PersistedOperationError)
  /// The document cannot be parsed or does not fit the schema, or no operation in it can be chosen.
  case invalid(RequestErrors, document: String)
  /// The request's extensions cannot be taken.
  case scope(ResolverError)
  /// Its caller has used what it may use.
  case limited(QuotaRefusal)

  /// The errors that a client is answered with, by whichever door.
  var errors: [ResponseError] {
    switch self {
    case .persisted(let error): [ResponseError(error.description, extensions: ["code": .string(error.code)])]
    case .invalid(let error, _): error.errors.map { ResponseError($0) }
    case .scope(let error): [ResponseError(error.message, extensions: error.extensions)]
    case .limited(let refusal): [ResponseError(refusal.message, extensions: refusal.extensions)]
    }
  }

  /// Whether the caller has used what it may use.
  var isLimit: Bool {
    if case .limited = self { true } else { false }
  }

  /// Whether a document was read to find it.
  var hasReadDocument: Bool {
    switch self {
    case .invalid, .scope: true
    case .persisted, .limited: false
    }
  }

  /// The value of `Retry-After`, in whole seconds; nil where nothing is to be said.
  var retryAfter: String? {
    if case .limited(let refusal) = self { refusal.retryAfterField } else { nil }
  }

  var tree: ResponseTree { ResponseTree(data: nil, errors: errors) }

  /// The rule of the protocol that the client broke; nil for what is not a fault, such as a document that is not known.
  var violation: String? {
    switch self {
    case .persisted(let error): error.isFault ? error.description : nil
    case .invalid, .scope, .limited: nil
    }
  }
}

extension PersistedOperationError {
  /// Whether the client broke a rule. A document that is not known is not a fault of the client.
  var isFault: Bool {
    switch self {
    case .notFound, .notSupported: false
    case .hashMismatch, .malformedHash, .version: true
    }
  }
}
