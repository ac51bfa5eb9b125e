package import MartletGraphQLLanguage
package import MartletJSON

// Section 6.4.1 "Coercing Field Arguments".
extension TypeTable {
  /// Prepares a field's arguments; all that does not depend on variables is coerced now.
  package func planArguments(of field: Field, _ definition: SchemaField) -> ArgumentPlan {
    if definition.arguments.isEmpty { return .none }
    var sources: [ArgumentSource] = []
    var readsVariables = false
    for input in definition.arguments {
      let literal = field.arguments.first { $0.name.text == input.name }?.value
      if literal == nil && input.defaultValue == nil && !input.isRequired { continue }
      sources.append(ArgumentSource(input: input, literal: literal))
      if let literal, literal.readsVariables { readsVariables = true }
    }
    if sources.isEmpty { return .none }
    if readsVariables { return .variable(sources) }
    do {
      return .constant(try arguments(sources, variables: JSONObject(), location: field.location))
    } catch {
      return .fault(error)
    }
  }

  /// The coerced arguments under `variables`.
  package func arguments(
    _ sources: [ArgumentSource], variables: JSONObject, location: Location
  ) throws(PlanFault) -> JSONObject {
    var result = JSONObject()
    for source in sources {
      let (input, name) = (source.input, source.input.name)
      guard let literal = source.literal, !Self.isAbsent(literal, variables) || input.isRequired else {
        if let defaultValue = defaultValue(of: input) {
          result[name] = defaultValue
        } else if input.isRequired {
          throw PlanFault(
            message:
              "Argument '\(name)' of required type '\(schema.describe(input.type))' was not provided.",
            locations: [location.source].compactMap { $0 })
        }
        continue
      }
      guard let value = coerce(literal: literal, to: input.type, variables: variables) else {
        let found = fault(in: literal, for: input.type, variables: variables)
        throw PlanFault(
          message: "Argument '\(name)' has invalid value\(found?.path.phrase ?? ""): \(found?.message ?? "")",
          locations: [(found?.location ?? literal.location).source].compactMap { $0 })
      }
      result[name] = value
    }
    return result
  }
}

extension Value {
  /// Whether the literal has a variable in it.
  var readsVariables: Bool {
    switch kind {
    case .variable: true
    case .int, .float, .string, .boolean, .null, .enumeration: false
    case .list(let values): values.contains(where: \.readsVariables)
    case .object(let fields): fields.contains(where: \.value.readsVariables)
    }
  }
}
