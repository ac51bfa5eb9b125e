/// The members of a JSON object in their order. Names compare by their UTF-8 bytes.
///
/// Look-up is a scan up to sixteen members and a hash table beyond: so few names are distinguished by their lengths and
/// first bytes sooner than one name is hashed, and small objects cost no table.
public struct JSONObject: Sendable {
  /// A member's name and value.
  public typealias Element = (key: String, value: JSONValue)

  private var members: [Element] = []
  /// Position by name, kept only above `scanned` members.
  private var positions: [ByteKey: Int] = [:]

  private static let scanned = 16

  struct ByteKey: Hashable, Sendable {
    let text: String

    static func == (left: ByteKey, right: ByteKey) -> Bool { left.text.hasSameBytes(as: right.text) }
    func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
  }

  /// An object without members.
  public init() {}

  /// Members in order; of several with one name the last value counts, at the first's place.
  public init(_ members: some Sequence<Element>) {
    for (key, value) in members { self[key] = value }
  }

  /// Members in order, no two of one name: the caller knows. Spares the search that adding one by one makes.
  package init(distinct members: [Element]) {
    self.members = members
    rebuild()
  }

  /// Makes room once for so many members.
  package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// The value named `key`, which probably stands at `hint`.
  package func value(named key: String, near hint: Int) -> JSONValue? {
    if hint < members.count, members[hint].key.hasSameBytes(as: key) { return members[hint].value }
    return self[key]
  }

  /// How many members there are.
  public var count: Int { members.count }
  /// Whether there are none.
  public var isEmpty: Bool { members.isEmpty }
  /// Names in order.
  public var keys: [String] { members.map(\.key) }

  /// The value named `key`. Setting nil removes the member; a new name goes last.
  public subscript(key: String) -> JSONValue? {
    get { position(of: key).map { members[$0].value } }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil):
        members.remove(at: position)
        rebuild()
      case (nil, let value?): append(key, value)
      case (nil, nil): break
      }
    }
  }

  private func position(of key: String) -> Int? {
    if members.count > Self.scanned { return positions[ByteKey(text: key)] }
    // By position, since a closure would be handed a copy of each member.
    for index in members.indices where members[index].key.hasSameBytes(as: key) { return index }
    return nil
  }

  private mutating func append(_ key: String, _ value: JSONValue) {
    members.append((key, value))
    if members.count > Self.scanned + 1 {
      positions[ByteKey(text: key)] = members.count - 1
    } else if members.count == Self.scanned + 1 {
      rebuild()
    }
  }

  private mutating func rebuild() {
    positions.removeAll(keepingCapacity: true)
    guard members.count > Self.scanned else { return }
    for (index, member) in members.enumerated() { positions[ByteKey(text: member.key)] = index }
  }
}

extension JSONObject: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { members.count }
  /// The member at `position`.
  public subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Hashable, ExpressibleByDictionaryLiteral {
  /// Same members, in whatever order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Feeds the hasher without regard to order.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members {
      var inner = Hasher()
      member.key.hashBytes(into: &inner)
      inner.combine(member.value)
      sum &+= inner.finalize()
    }
    hasher.combine(sum)
  }

  /// Members in the literal's order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.map { (key: $0.0, value: $0.1) })
  }
}
