import MartletJSON
import MartletVocabulary

/// An imaginary server: objects of a few types that never change, and random documents over them.
struct World {
  /// A selection, as text and as something to run.
  indirect enum Selection {
    case field(alias: String, name: String, argument: Int?, inner: [Selection])
    case fragment(type: String, inner: [Selection])
  }
  static let types = ["T0", "T1", "T2"]
  /// What the link fields lead to; the second and fourth are interfaces.
  static let links: [(name: String, lists: Int, targets: [String])] = [
    ("one", 0, ["T1"]), ("any", 0, ["T0", "T1", "T2"]), ("many", 1, ["T2"]), ("mixed", 1, ["T0", "T2"]),
    ("grid", 2, ["T1"]), ("bare", 1, ["T1"]),
  ]
  static let possibleTypes: [String: Set<String>] = ["I": ["T0", "T2"], "All": ["T0", "T1", "T2"]]

  /// The same in the schema language.
  static let schema: String = {
    let fields =
      "id: ID! f0(n: Int): JSON f1(n: Int): JSON f2(n: Int): JSON one: T1 any: All many: [T2] mixed: [I] grid: [[T1]] bare: [T1]"
    let objects = [("T0", "I & All"), ("T1", "All"), ("T2", "I & All")].map {
      "type \($0.0) implements \($0.1) { \(fields) }"
    }
    return "scalar JSON type Query { \(fields) } interface I { \(fields) } interface All { \(fields) } "
      + objects.joined(separator: " ")
  }()

  let seed: UInt64
  /// Whether every document asks for every object's id.
  let asksForIDs: Bool

  // MARK: Documents

  func document(_ random: inout SeededRandom) -> [Selection] {
    (0..<Int.random(in: 1...3, using: &random)).map { index in
      let link = Self.links[Int.random(in: 0..<Self.links.count, using: &random)]
      return .field(
        alias: Bool.random(using: &random) ? link.name : "r\(index)\(link.name)", name: link.name, argument: nil,
        inner: selections(depth: 3, on: Self.staticTypes[link.name] ?? [], &random))
    }
  }

  /// The types that a link's declared type allows.
  private static let staticTypes: [String: Set<String>] = [
    "one": ["T1"], "any": ["T0", "T1", "T2"], "many": ["T2"], "mixed": ["T0", "T2"], "grid": ["T1"], "bare": ["T1"],
  ]

  /// - Parameter possible: the types an object can have here; fragments on others would not be valid.
  private func selections(depth: Int, on possible: Set<String>, _ random: inout SeededRandom) -> [Selection] {
    var result: [Selection] = []
    if asksForIDs || Int.random(in: 0..<2, using: &random) == 0 {
      result.append(.field(alias: "id", name: "id", argument: nil, inner: []))
    }
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
      case 0, 1:
        let name = "f\(Int.random(in: 0..<3, using: &random))"
        let argument = Bool.random(using: &random) ? Int.random(in: 0..<2, using: &random) : nil
        // An alias per argument, so that documents are valid whatever they join.
        result.append(
          .field(alias: argument.map { "\(name)_\($0)" } ?? name, name: name, argument: argument, inner: []))
      case 2, 3:
        let type = ["T0", "T1", "T2", "I", "All"][Int.random(in: 0..<5, using: &random)]
        let rest = possible.intersection(Self.possibleTypes[type] ?? [type])
        if rest.isEmpty { continue }
        result.append(.fragment(type: type, inner: selections(depth: depth - 1, on: rest, &random)))
      default:
        let link = Self.links[Int.random(in: 0..<Self.links.count, using: &random)]
        let alias = Int.random(in: 0..<3, using: &random) == 0 ? "x" + link.name : link.name
        result.append(
          .field(
            alias: alias, name: link.name, argument: nil,
            inner: selections(depth: depth - 1, on: Self.staticTypes[link.name] ?? [], &random)))
      }
    }
    if result.isEmpty { result.append(.field(alias: "f0", name: "f0", argument: nil, inner: [])) }
    return result
  }

  static func text(_ selections: [Selection]) -> String {
    "{ "
      + selections.map { selection in
        switch selection {
        case .field(let alias, let name, let argument, let inner):
          (alias == name ? name : "\(alias): \(name)") + (argument.map { "(n: \($0))" } ?? "")
            + (inner.isEmpty ? "" : " " + text(inner))
        case .fragment(let type, let inner): "... on \(type) \(text(inner))"
        }
      }.joined(separator: " ") + " }"
  }

  // MARK: Answers

  /// What the server answers; with type names and ids below the root when the request asks for them.
  func answer(_ selections: [Selection], withIdentity: Bool) -> JSONValue {
    object("Q", 0, [selections], isRoot: true, withIdentity)
  }

  private func object(_ type: String, _ id: Int, _ sets: [[Selection]], isRoot: Bool = false, _ withIdentity: Bool)
    -> JSONValue
  {
    var order: [String] = []
    var groups: [String: (name: String, argument: Int?, inner: [[Selection]])] = [:]
    func collect(_ set: [Selection]) {
      for selection in set {
        switch selection {
        case .field(let alias, let name, let argument, let inner):
          if groups[alias] == nil {
            order.append(alias)
            groups[alias] = (name, argument, [])
          }
          if !inner.isEmpty { groups[alias]?.inner.append(inner) }
        case .fragment(let condition, let inner):
          if condition == type || Self.possibleTypes[condition]?.contains(type) == true { collect(inner) }
        }
      }
    }
    for set in sets { collect(set) }
    var result = JSONObject()
    for alias in order {
      guard let group = groups[alias] else { continue }
      result[alias] = value(type, id, group.name, group.argument, group.inner, withIdentity)
    }
    if withIdentity, !isRoot {
      result["__typename"] = .string(type)
      if result["id"] == nil { result["id"] = .int(Int64(id)) }
    }
    return .object(result)
  }

  private func value(
    _ type: String, _ id: Int, _ name: String, _ argument: Int?, _ inner: [[Selection]], _ withIdentity: Bool
  ) -> JSONValue {
    if name == "id" { return .int(Int64(id)) }
    var random = generator(type, id, name, argument)
    guard let link = Self.links.first(where: { $0.name == name }) else {
      return [nil, 1, 2.5, "text", ["free": [1]], [1, [2]], true][Int.random(in: 0..<7, using: &random)]
    }
    func target(_ lists: Int) -> JSONValue {
      if Int.random(in: 0..<6, using: &random) == 0 { return nil }
      if lists > 0 {
        return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in target(lists - 1) })
      }
      let next = link.targets[Int.random(in: 0..<link.targets.count, using: &random)]
      return object(next, Int.random(in: 0..<4, using: &random), inner, withIdentity)
    }
    return target(link.lists)
  }

  /// The same place has the same value for every caller.
  private func generator(_ type: String, _ id: Int, _ name: String, _ argument: Int?) -> SeededRandom {
    var hash = seed &* 0x9E37_79B9_7F4A_7C15
    for byte in "\(type) \(id) \(name) \(argument ?? -1)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return SeededRandom(seed: hash)
  }
}
