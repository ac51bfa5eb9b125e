import MartletGraphQLStore
import MartletJSON

/// What a store should show, in the plainest way: everything is worked out anew whenever somebody asks.
struct Reference {
  /// A field's value: a number, a link to another record, or a list of links.
  enum Value: Equatable {
    case number(Int64), none, link(String), links([String])
  }
  typealias Records = [String: [String: Value]]

  /// What an optimistic update does.
  enum Hope {
    case set(String, String, Int64)
    case remove(String)
    /// Adds to a number that it reads, and fails when there is none or it has grown too large.
    case add(String, String, Int64)

    struct Failed: Error {}

    func run(_ transaction: ReadWriteTransaction) throws {
      switch self {
      case .set(let key, let field, let number): try transaction.setFields([field: .int(number)], of: CacheKey(key))
      case .remove(let key): try transaction.remove(CacheKey(key))
      case .add(let key, let field, let number):
        guard case .leaf(let json)? = try transaction.record(CacheKey(key))?[CacheField(field)], let old = json.int,
          old < 100
        else { throw Failed() }
        try transaction.setFields([field: .int(old + number)], of: CacheKey(key))
      }
    }

    /// - Returns: whether it could be done.
    func run(_ records: inout Records) -> Bool {
      switch self {
      case .set(let key, let field, let number): records[key, default: [:]][field] = .number(number)
      case .remove(let key): records[key] = nil
      case .add(let key, let field, let number):
        guard case .number(let old)? = records[key]?[field], old < 100 else { return false }
        records[key]?[field] = .number(old + number)
      }
      return true
    }

    var key: String {
      switch self {
      case .set(let key, _, _), .remove(let key), .add(let key, _, _): key
      }
    }
  }

  var records: Records = [:]
  private(set) var hopes: [(number: Int, hope: Hope)] = []

  /// Everything with the optimistic updates applied. An update that can no longer be applied is dropped for good.
  mutating func shown() -> Records {
    var all = records
    hopes.removeAll { entry in !entry.hope.run(&all) }
    return all
  }

  mutating func add(_ hope: Hope, number: Int) -> Bool {
    var all = shown()
    guard hope.run(&all) else { return false }
    hopes.append((number, hope))
    return true
  }

  mutating func rollBack(_ number: Int) {
    // What has failed by now stays so, whatever comes off.
    _ = shown()
    hopes.removeAll { $0.number == number }
  }

  // MARK: Questions

  /// `{ all { id f0 next { id f1 } } }`
  mutating func all() -> JSONValue? {
    let shown = shown()
    guard case .links(let keys)? = shown["QUERY_ROOT.all"]?["all"] else { return nil }
    var items: [JSONValue] = []
    for key in keys {
      guard let id = shown[key]?["id"]?.json, let number = shown[key]?["f0"]?.json, let next = shown[key]?["next"]
      else {
        return nil
      }
      switch next {
      case .none: items.append(["id": id, "f0": number, "next": nil])
      case .link(let other):
        guard let inner = shown[other]?["id"]?.json, let value = shown[other]?["f1"]?.json else { return nil }
        items.append(["id": id, "f0": number, "next": ["id": inner, "f1": value]])
      case .number, .links: return nil
      }
    }
    return ["all": .array(items)]
  }

  /// `{ one(i: I) { id f0 f1 } }`
  mutating func one(_ index: Int) -> JSONValue? {
    let shown = shown()
    guard let link = shown["QUERY_ROOT.one({\"i\":\(index)})"]?["one"] else { return nil }
    guard case .link(let key) = link else { return link == .none ? ["one": nil] : nil }
    guard let id = shown[key]?["id"]?.json, let first = shown[key]?["f0"]?.json, let second = shown[key]?["f1"]?.json
    else { return nil }
    return ["one": ["id": id, "f0": first, "f1": second]]
  }

  /// Keys that root fields and hopes lead to.
  func reached() -> Set<String> {
    var reached = Set(records.keys.filter { $0.hasPrefix("QUERY_ROOT.") })
    reached.formUnion(hopes.map(\.hope.key).filter { records[$0] != nil })
    var open = Array(reached)
    while let key = open.popLast() {
      for value in records[key]?.values ?? [:].values {
        let links: [String] =
          switch value {
          case .link(let other): [other]
          case .links(let others): others
          case .number, .none: []
          }
        for link in links where records[link] != nil && reached.insert(link).inserted { open.append(link) }
      }
    }
    return reached
  }
}

extension Reference.Value {
  var json: JSONValue? {
    if case .number(let number) = self { .int(number) } else { nil }
  }
}
