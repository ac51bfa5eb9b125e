package import MartletJSON

/// Bounds of a response that comes in parts. How long it may be in all is bounded where it is received.
package struct IncrementalLimits: Sendable {
  /// Longest path of a part. Documents servers accept are far less deep, and a client walks along it.
  package var pathLength = 256
  /// Announcements that wait for their data at a time.
  package var pending = 100_000

  package init() {}
}

/// Why parts of a response cannot be put together.
package struct IncrementalFailure: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    case notAnObject = "it is not an object"
    case noResult = "it has neither data nor errors"
    case list = "a member is not a list of objects"
    case id = "an id is missing"
    case duplicateID = "an id was announced twice"
    case unknownID = "an id was not announced"
    case path = "a path is missing, too long, or leads nowhere"
    case content = "an increment has neither data nor items of the right kind"
    case tooManyPending = "more is announced than allowed"
    case truncated = "the response ended before its last part"
  }

  package var rule: Rule
  /// The part, from 0.
  package var part: Int

  package init(rule: Rule, part: Int) {
    self.rule = rule
    self.part = part
  }

  package var description: String { "part \(part + 1) of the response: \(rule.rawValue)" }
}

/// Puts a response together that comes in parts (`@defer`, `@stream`). Takes every shape in use: increments that name
/// an announced `id`, those of 2022 that name a `path`, and the ones before, where a part itself is an increment.
///
/// Unknown members are ignored. A part is taken whole or, when it is malformed, ends everything.
package struct IncrementalAssembly: Sendable {
  package let limits: IncrementalLimits
  package private(set) var data: JSONValue?
  package private(set) var errors: [JSONValue] = []
  package private(set) var extensions = JSONObject()
  /// Parts taken.
  package private(set) var partCount = 0
  /// Whether the server said that nothing follows.
  package private(set) var isComplete = false
  private var pending: [JSONValue: [JSONValue]] = [:]

  package init(limits: IncrementalLimits = IncrementalLimits()) {
    self.limits = limits
  }

  /// Everything so far, as a response in one piece.
  package var response: JSONValue {
    var object = JSONObject()
    if let data { object["data"] = data }
    if !errors.isEmpty { object["errors"] = .array(errors) }
    if !extensions.isEmpty { object["extensions"] = .object(extensions) }
    return .object(object)
  }

  /// Takes one part. What comes after the last one is ignored.
  package mutating func receive(_ part: JSONValue) throws(IncrementalFailure) {
    if isComplete { return }
    guard let members = part.object else { throw failure(.notAnObject) }
    if partCount == 0 {
      try begin(members)
    } else {
      try go(on: members)
    }
    partCount += 1
  }

  /// The response has ended; nothing more can come.
  package func inputEnded() throws(IncrementalFailure) {
    if !isComplete { throw failure(.truncated) }
  }

  private mutating func begin(_ members: JSONObject) throws(IncrementalFailure) {
    guard members["data"] != nil || members["errors"] != nil else { throw failure(.noResult) }
    data = members["data"]
    try addErrors(members["errors"])
    add(members["extensions"])
    try announce(members["pending"])
    try deliver(members["incremental"])
    try complete(members["completed"])
    // A response in one piece does not say it.
    isComplete = members["hasNext"]?.bool != true
  }

  private mutating func go(on members: JSONObject) throws(IncrementalFailure) {
    try announce(members["pending"])
    try deliver(members["incremental"])
    if members["path"] != nil {
      try increment(members)
    } else {
      if members["data"]?.isNull == false { throw failure(.content) }
      // Not meant to be here, and not to be lost.
      try addErrors(members["errors"])
      add(members["extensions"])
    }
    try complete(members["completed"])
    isComplete = members["hasNext"]?.bool == false
  }

  // MARK: Members of a part

  private func list(_ value: JSONValue?) throws(IncrementalFailure) -> [JSONObject] {
    guard let value, !value.isNull else { return [] }
    guard let elements = value.array else { throw failure(.list) }
    var objects: [JSONObject] = []
    objects.reserveCapacity(elements.count)
    for element in elements {
      guard let object = element.object else { throw failure(.list) }
      objects.append(object)
    }
    return objects
  }

  private mutating func addErrors(_ value: JSONValue?) throws(IncrementalFailure) {
    guard let value, !value.isNull else { return }
    guard let more = value.array else { throw failure(.list) }
    errors += more
  }

  private mutating func add(_ value: JSONValue?) {
    guard let more = value?.object else { return }
    for (name, value) in more { extensions[name] = value }
  }

  private mutating func announce(_ value: JSONValue?) throws(IncrementalFailure) {
    for entry in try list(value) {
      guard let id = entry["id"], !id.isNull else { throw failure(.id) }
      guard let path = entry["path"]?.array, path.count <= limits.pathLength else { throw failure(.path) }
      guard pending[id] == nil else { throw failure(.duplicateID) }
      guard pending.count < limits.pending else { throw failure(.tooManyPending) }
      pending[id] = path
    }
  }

  private mutating func deliver(_ value: JSONValue?) throws(IncrementalFailure) {
    for entry in try list(value) { try increment(entry) }
  }

  private mutating func complete(_ value: JSONValue?) throws(IncrementalFailure) {
    for entry in try list(value) {
      guard let id = entry["id"] else { throw failure(.id) }
      guard pending.removeValue(forKey: id) != nil else { throw failure(.unknownID) }
      try addErrors(entry["errors"])
    }
  }

  private mutating func increment(_ entry: JSONObject) throws(IncrementalFailure) {
    var path: [JSONValue]
    let isAnnounced: Bool
    if let id = entry["id"], !id.isNull {
      guard let announced = pending[id] else { throw failure(.unknownID) }
      path = announced + (entry["subPath"]?.array ?? [])
      isAnnounced = true
    } else {
      guard let own = entry["path"]?.array else { throw failure(.path) }
      path = own
      isAnnounced = false
    }
    guard path.count <= limits.pathLength else { throw failure(.path) }
    try addErrors(entry["errors"])
    add(entry["extensions"])
    if let items = entry["items"], !items.isNull {
      guard let items = items.array else { throw failure(.content) }
      var start: Int64?
      if !isAnnounced {
        guard let index = path.popLast()?.int else { throw failure(.path) }
        start = index
      }
      try change(path) { JSONMerge.append(items, at: start, to: &$0) }
    } else if let more = entry["data"], !more.isNull {
      // Before 2022 an item of a list came as data at its place.
      if !isAnnounced, let index = path.last?.int, reaches(path.dropLast(), beyond: index) {
        try change(path.dropLast()) { JSONMerge.append([more], at: index, to: &$0) }
      } else {
        guard more.object != nil else { throw failure(.content) }
        try change(path[...]) { JSONMerge.merge(more, into: &$0) }
      }
    } else if entry["data"] == nil, entry["items"] == nil, isAnnounced {
      throw failure(.content)
    }
  }

  // MARK: Places

  /// Whether `index` is one past the list's last element.
  private func reaches(_ path: ArraySlice<JSONValue>, beyond index: Int64) -> Bool {
    var value = data
    for step in path {
      if let name = step.string {
        value = value?[name]
      } else if let place = step.int, let place = Int(exactly: place) {
        value = value?[place]
      } else {
        return false
      }
    }
    return value?.array.map { Int64($0.count) == index } ?? false
  }

  private mutating func change(
    _ path: [JSONValue], _ body: (inout JSONValue) -> Bool
  ) throws(IncrementalFailure) {
    try change(path[...], body)
  }

  private mutating func change(
    _ path: ArraySlice<JSONValue>, _ body: (inout JSONValue) -> Bool
  ) throws(IncrementalFailure) {
    guard var root = data else { throw failure(.path) }
    // The only reference, so that nothing is copied.
    data = nil
    let isDone = JSONMerge.change(&root, path, body)
    data = root
    if !isDone { throw failure(.path) }
  }

  private func failure(_ rule: IncrementalFailure.Rule) -> IncrementalFailure {
    IncrementalFailure(rule: rule, part: partCount)
  }
}
