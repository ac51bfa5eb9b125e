import MartletAccess
import MartletCommandLine
import MartletGraphQLLanguage
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletTokens

/// `martlet access explain`: which rule of the schema lets a caller see and do what an operation asks for.
enum ExplainAction {
  static let options: [CommandSpecification.Option] = [
    .init(name: "schema", value: "FILE", help: "explain: the schema with the @auth rules"),
    .init(
      name: "as", value: "CLAIMS", help: "explain: a token's claims as JSON, guest, or key for the holder of an API key"
    ),
  ]

  static func run(_ operation: String, _ arguments: ParsedArguments) throws -> ExitCode {
    try AccessCommand.refuse(KeyActions.options + TokenCheck.options, in: arguments, of: "explain")
    guard let file = arguments.value("schema") else { throw UsageError("Name the schema: --schema FILE.") }
    guard let claims = arguments.value("as") else { throw UsageError("Name the caller: --as CLAIMS, guest or key.") }
    let schema = try SchemaCommand.read(file)
    let identity = try identity(claims)
    let document: Document
    do {
      document = try Parser.parse(operation)
    } catch {
      throw UsageError("The operation cannot be read: \(error.graphQLError.description)")
    }
    let errors = Validator.validate(document, against: schema.schema)
    guard errors.isEmpty else {
      throw CommandFailure(
        .badData, errors.map { "The operation does not fit the schema: \($0.description)" }.joined(separator: "\n"))
    }
    for line in Explanation(schema: schema, identity: identity, document: document).lines { Console.out(line) }
    return .success
  }

  private static func identity(_ text: String) throws -> Identity {
    switch text {
    case "guest": return .guest
    case "key": return Identity(provider: .apiKey, subject: "key")
    default: break
    }
    do {
      return try TokenClaims(Array(text.utf8), depth: 16).identity(end: nil)
    } catch {
      throw UsageError("--as must be claims as a JSON object, guest or key: \(error.description).")
    }
  }
}

/// What the rules come to for each field of an operation.
struct Explanation {
  let schema: ModelSchema
  let identity: Identity
  let document: Document

  var lines: [String] {
    document.operations.flatMap { operation in
      let root =
        switch operation.kind {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
      return fields(operation.selectionSet).flatMap { explain($0, in: root) }
    }
  }

  /// The fields of a selection, those of fragments included. A fragment inside itself ends where it begins again.
  private func fields(_ selections: SelectionSet?, within: [String] = []) -> [Field] {
    (selections?.selections ?? []).flatMap { selection -> [Field] in
      switch selection {
      case .field(let field): return [field]
      case .inlineFragment(let fragment): return fields(fragment.selectionSet, within: within)
      case .fragmentSpread(let spread):
        let name = spread.name.text
        guard !within.contains(name), let fragment = document.fragments.first(where: { $0.name.text == name }) else {
          return []
        }
        return fields(fragment.selectionSet, within: within + [name])
      }
    }
  }

  private func explain(_ field: Field, in root: String) -> [String] {
    let name = field.name.text
    let inner = fields(field.selectionSet)
    let items = inner.filter { $0.name.text == "items" }.flatMap { fields($0.selectionSet) }
    switch schema.operations[FieldPath(root, name)] {
    case .get(let model): return records(name, model, .get, inner, "")
    case .list(let model): return records(name, model, .list, items, "", asked: conditions(field, model, .list))
    case .listByIndex(let model, let index):
      let order = schema.models[model].indexes[index].fields
      return records(name, model, .list, items, "", asked: conditions(field, model, .list, orderedBy: order))
    case .sync(let model): return records(name, model, .sync, items, "", asked: conditions(field, model, .sync))
    case .create(let model): return write(name, model, .create, inner, field)
    case .update(let model): return write(name, model, .update, inner, field)
    case .delete(let model): return write(name, model, .delete, inner, field)
    case .subscribe(let source):
      return records(name, source.model, .listen, inner, "", asked: conditions(field, source.model, .listen))
    case .changes: return ["\(name): changes of each model by its rules for listen"]
    case .treeChanges: return ["\(name): changes of the tree by its own rules"]
    case .transaction: return ["\(name): each write by the rules of its model"] + members(of: field)
    case nil: return ["\(name): no rule; its resolver decides"]
    }
  }

  /// A write is allowed by its own rules, and what it returns by those of reading.
  private func write(
    _ name: String, _ number: Int, _ operation: AccessOperation, _ inner: [Field], _ field: Field
  ) -> [String] {
    var lines = allowed(name, number, operation)
    lines += written(Self.argument("input", of: field), number, operation).map { "  " + $0 }
    // A condition may read what its caller sees.
    lines += conditions(field, number, .get).map { "  " + $0 }
    return lines + records("returned", number, .get, inner, "  ")
  }

  /// Whether an operation is allowed on records of a model, and each of the model's rules.
  func allowed(_ name: String, _ number: Int, _ operation: AccessOperation) -> [String] {
    let model = schema.models[number]
    let words = RuleWords(model: model, identity: identity)
    let outcome = schema.outcome(of: number, for: identity)
    return ["\(name): \(operation.rawValue) \(model.name) \(words.allowed(outcome.predicate(for: operation)))"]
      + words.rules(model.access.rules, operation).map { "  " + $0 }
  }

  private func records(
    _ name: String, _ number: Int, _ operation: AccessOperation, _ inner: [Field], _ indent: String,
    asked: [String] = []
  ) -> [String] {
    let model = schema.models[number]
    let words = RuleWords(model: model, identity: identity)
    let outcome = schema.outcome(of: number, for: identity)
    var lines = allowed(name, number, operation).map { indent + $0 }
    if outcome.predicate(for: operation) == .none { return lines }
    lines += asked.map { "\(indent)  \($0)" }
    for field in inner {
      let name = field.name.text
      if let position = model.position(of: name) {
        let visible = outcome.visibility(of: position, for: operation)
        lines.append("\(indent)  .\(name): \(words.shown(visible))")
        lines += words.rules(model.access.fieldRules[position] ?? [], operation).map { "\(indent)    \($0)" }
      } else if let relation = model.relations.first(where: { $0.name == name }) {
        lines += words.rules(model.access.relationRules[name] ?? [], operation).map { "\(indent)  .\(name): \($0)" }
        let chosen = fields(field.selectionSet)
        let isList = relation.kind == .hasMany
        let items = isList ? chosen.filter { $0.name.text == "items" }.flatMap { fields($0.selectionSet) } : chosen
        lines += records(".\(name)", relation.target, isList ? .list : .get, items, indent + "  ")
      }
    }
    return lines
  }
}
