package import MartletJSON

/// A filter over an event as JSON, in the form of AppSync's enhanced filtering:
/// `{"filterGroup": [{"filters": [{"fieldName": "severity", "operator": "ge", "value": 5}]}]}`.
///
/// An event passes when all filters of one group hold. A field's name may be a path of members, `detail.place.code`; a
/// list on the path stands for its elements, of which one has to fulfil the filter.
package struct EventFilter: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    var path: [String]
    var comparison: Comparison
    /// The values of `containsAny`, for which `comparison` is not used.
    var any: [JSONValue]?
  }

  private let groups: [[Rule]]

  /// Reads a filter. AppSync allows 10 groups of 5 filters, 5 names on a path, and 5 values of `in` and `notIn`.
  package init(_ json: JSONValue, _ limits: FilterLimits = FilterLimits()) throws(FilterError) {
    guard let list = json["filterGroup"]?.array, !list.isEmpty else {
      throw FilterError(path: "filterGroup", message: "must be a list of at least one group")
    }
    var groups: [[Rule]] = []
    var comparisons = 0
    for (number, group) in list.enumerated() {
      let path = "filterGroup[\(number)].filters"
      guard let filters = group["filters"]?.array, !filters.isEmpty else {
        throw FilterError(path: path, message: "must be a list of at least one filter")
      }
      comparisons += filters.count
      guard comparisons <= limits.comparisons else {
        throw FilterError(path: path, message: "a filter has at most \(limits.comparisons) comparisons")
      }
      var rules: [Rule] = []
      for (number, filter) in filters.enumerated() {
        rules.append(try Self.rule(filter, "\(path)[\(number)]", limits))
      }
      groups.append(rules)
    }
    self.groups = groups
  }

  private static func rule(_ filter: JSONValue, _ path: String, _ limits: FilterLimits) throws(FilterError) -> Rule {
    guard let name = filter["fieldName"]?.string, !name.isEmpty else {
      throw FilterError(path: "\(path).fieldName", message: "must be the name of a field")
    }
    let members = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    guard members.count <= limits.depth, !members.contains("") else {
      throw FilterError(
        path: "\(path).fieldName", message: "must be at most \(limits.depth) names with dots between them")
    }
    guard let name = filter["operator"]?.string else {
      throw FilterError(path: "\(path).operator", message: "must be the name of an operator")
    }
    guard let value = filter["value"] else { throw FilterError(path: "\(path).value", message: "is missing") }
    if name == "containsAny" {
      let any = try values(value, "\(path).value", 1...max(1, limits.listItems))
      return Rule(path: members, comparison: .in([]), any: any)
    }
    return Rule(path: members, comparison: try comparison(name, value, path, limits))
  }

  private static func comparison(
    _ name: String, _ value: JSONValue, _ path: String, _ limits: FilterLimits
  ) throws(FilterError) -> Comparison {
    let place = "\(path).value"
    switch name {
    case "eq": return .eq(value)
    case "ne": return .ne(value)
    case "lt": return .lt(value)
    case "le": return .le(value)
    case "gt": return .gt(value)
    case "ge": return .ge(value)
    case "contains": return .contains(value)
    case "notContains": return .notContains(value)
    case "in": return .in(try values(value, place, 1...max(1, limits.listItems)))
    case "notIn": return .notIn(try values(value, place, 1...max(1, limits.listItems)))
    case "between":
      let bounds = try values(value, place, 2...2)
      return .between(bounds[0], bounds[1])
    case "beginsWith":
      guard let text = value.string else { throw FilterError(path: place, message: "must be text") }
      return .beginsWith(TextPrefix(text))
    default:
      throw FilterError(path: "\(path).operator", message: "there is no operator \"\(name)\"")
    }
  }

  private static func values(
    _ value: JSONValue, _ path: String, _ count: ClosedRange<Int>
  ) throws(FilterError) -> [JSONValue] {
    guard let values = value.array, count.contains(values.count) else {
      let words =
        count.lowerBound == count.upperBound ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
      throw FilterError(path: path, message: "must be a list of \(words) values")
    }
    return values
  }

  // MARK: Judging

  /// Whether an event passes.
  package func holds(for event: JSONObject) -> Bool {
    groups.contains { $0.allSatisfy { Self.holds($0, $0.path[...], .object(event)) } }
  }

  private static func holds(_ rule: Rule, _ path: ArraySlice<String>, _ value: JSONValue) -> Bool {
    guard let name = path.first else {
      guard let any = rule.any else { return rule.comparison.holds(for: value) }
      return any.contains { Comparison.contains($0).holds(for: value) }
    }
    if let elements = value.array { return elements.contains { holds(rule, path, $0) } }
    return holds(rule, path.dropFirst(), value[name] ?? .null)
  }
}
