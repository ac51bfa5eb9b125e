import Foundation
import MartletJSON

/// The differences to graphql-core that are meant, by name and with their reasons:
/// `Conformance/graphql-core/differences.json`. A difference acts only where both sides really differ.
struct Differences: Sendable {
  typealias Faults = [Expectation.Fault]

  let names: [String]

  static func committed() throws -> Differences {
    let data = try Data(contentsOf: Expectation.folder.appending(path: "differences.json"))
    let value = try JSONValue(parsing: [UInt8](data))
    return Differences(names: (value["differences"]?.array ?? []).compactMap { $0["name"]?.string })
  }

  /// Removes the listed differences between two lists of faults.
  func adjust(_ expected: inout Faults, _ actual: inout Faults, _ used: inout Set<String>) {
    for name in names {
      guard Set(expected) != Set(actual) else { return }
      let before = (expected, actual)
      switch name {
      case "suggestions":
        for index in actual.indices where actual[index].rule != "ScalarLeafs" {
          actual[index].message = Self.withoutSuggestion(actual[index].message)
        }
      case "literal without a place":
        for fault in expected where fault.places.isEmpty && fault.rule == "ValuesOfCorrectType" {
          let match = actual.firstIndex { $0.rule == fault.rule && $0.message == fault.message && !$0.places.isEmpty }
          if let match { actual[match].places = [] }
        }
      case "values of repeated input fields":
        guard expected.contains(where: { $0.rule == "UniqueInputFieldNames" }) else { continue }
        expected.removeAll { $0.rule == "ValuesOfCorrectType" }
        actual.removeAll { $0.rule == "ValuesOfCorrectType" }
      case "empty selection set":
        if actual.count == 1, actual[0].message == "Syntax Error: Expected Name, found '}'." { expected = actual }
      case "names in definitions":
        guard expected.contains(where: { $0.rule == "ExecutableDefinitions" }) else { continue }
        let known = actual.filter { $0.rule == "KnownTypeNames" }
        expected.removeAll { $0.rule == "KnownTypeNames" && !known.contains($0) }
      case "cycles of repeated fragments":
        guard expected.contains(where: { $0.rule == "UniqueFragmentNames" }) else { continue }
        expected.removeAll { $0.rule == "NoFragmentCycles" }
        actual.removeAll { $0.rule == "NoFragmentCycles" }
      case "parent of meta fields":
        for index in expected.indices where expected[index].message.hasPrefix("Argument '<meta>.") {
          let match = actual.firstIndex { $0.rule == expected[index].rule && $0.places == expected[index].places }
          if let match { expected[index].message = actual[match].message }
        }
      case "unknown field of a OneOf object":
        expected.removeAll { fault in
          fault.rule == "ValuesOfCorrectType" && fault.message.hasPrefix("Within OneOf Input Object type")
            && !actual.contains(fault)
        }
      case "shape of __typename":
        let missing = actual.filter { fault in
          !expected.contains(fault) && fault.message.contains("they return conflicting types 'String!' and 'String'")
        }
        expected += missing
      default: continue
      }
      if before != (expected, actual) { used.insert(name) }
    }
  }

  /// Whether faults of a document that graphql-core found valid are a listed difference.
  func explains(_ faults: Faults, _ used: inout Set<String>) -> Bool {
    let name = "empty selection set"
    guard names.contains(name), faults.count == 1, faults[0].message == "Syntax Error: Expected Name, found '}'." else {
      return false
    }
    used.insert(name)
    return true
  }

  /// Removes the listed differences between two responses.
  func adjust(_ expected: inout JSONValue, _ actual: inout JSONValue, _ used: inout Set<String>) {
    expected = Self.withMessages(expected, Expectation.normalized)
    for name in names {
      guard !JSONComparison.isSame(expected, actual) else { return }
      let before = (expected, actual)
      switch name {
      case "words for an unnamed type":
        expected = Self.withMessages(expected, Self.withoutAdvice)
        actual = Self.withMessages(actual, Self.withoutAdvice)
      case "introspection of built-in types":
        expected = Introspected.plain(expected)
        actual = Introspected.plain(actual)
      default: continue
      }
      if before != (expected, actual) { used.insert(name) }
    }
  }

  private static func withoutSuggestion(_ message: String) -> String {
    guard let start = message.range(of: ". Did you mean") else {
      guard let start = message.range(of: " Did you mean") else { return message }
      return String(message[..<start.lowerBound])
    }
    if let found = message.range(of: "? Found: ", range: start.upperBound..<message.endIndex) {
      return message[..<start.lowerBound] + ", found: " + message[found.upperBound...]
    }
    return message[..<start.lowerBound] + "."
  }

  private static func withoutAdvice(_ message: String) -> String {
    guard message.hasPrefix("Abstract type"), let end = message.range(of: " Either ") else { return message }
    return String(message[..<end.lowerBound])
  }

  private static func withMessages(_ response: JSONValue, _ change: (String) -> String) -> JSONValue {
    guard case .object(var members) = response, case .array(let errors)? = members["errors"] else { return response }
    members["errors"] = .array(
      errors.map { error in
        guard case .object(var parts) = error, let message = error["message"]?.string else { return error }
        parts["message"] = .string(change(message))
        return .object(parts)
      })
    return .object(members)
  }
}

/// Introspection results without what every implementation says in its own way.
enum Introspected {
  /// Lists of named things by name; no words and no inputs of built-in types and directives.
  static func plain(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let items):
      let plain = items.map { Self.plain($0) }
      guard plain.allSatisfy({ $0["name"]?.string != nil }) else { return .array(plain) }
      return .array(
        plain.sorted { ($0["name"]?.string ?? "").utf8.lexicographicallyPrecedes(($1["name"]?.string ?? "").utf8) })
    case .object(let members):
      if let name = members["name"]?.string, isBuiltIn(name) {
        return ["name": .string(name)]
      }
      return .object(JSONObject(members.map { ($0.key, Self.plain($0.value)) }))
    case .null, .bool, .int, .uint, .double, .string: return value
    }
  }

  private static func isBuiltIn(_ name: String) -> Bool {
    name.hasPrefix("__")
      || ["Int", "Float", "String", "Boolean", "ID", "include", "skip", "deprecated", "specifiedBy", "oneOf"].contains(
        name)
  }
}
