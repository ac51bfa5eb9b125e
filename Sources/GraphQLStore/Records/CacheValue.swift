public import MartletJSON

/// The value of a field in a record.
public enum CacheValue: Sendable, Hashable {
  /// A leaf: null, a scalar of any shape, an enum value.
  case leaf(JSONValue)
  /// An object that is a record of its own.
  case reference(CacheKey)
  /// An object without identity, kept where it stands.
  case object(CacheRecord)
  /// A list of any of these.
  case list([CacheValue])
}

extension CacheValue {
  /// About how many bytes the value takes beyond its place.
  public var footprint: Int {
    switch self {
    case .leaf(let value): value.footprint
    case .reference(let key): Self.box + key.text.footprint
    case .object(let record): Self.box + record.footprint
    case .list(let values): values.reduce(Self.box + 32) { $0 + MemoryLayout<CacheValue>.stride + $1.footprint }
    }
  }

  private static let box = 40
}

extension JSONValue {
  /// About how many bytes the value takes beyond its place.
  fileprivate var footprint: Int {
    switch self {
    case .null, .bool, .int, .uint, .double: 0
    case .string(let text): text.footprint
    case .array(let values): values.reduce(32) { $0 + MemoryLayout<JSONValue>.stride + $1.footprint }
    case .object(let object):
      object.reduce(64) { $0 + MemoryLayout<JSONObject.Element>.stride + $1.key.footprint + $1.value.footprint }
    }
  }
}

extension String {
  /// Bytes on the heap: none up to 15.
  var footprint: Int { utf8.count > 15 ? utf8.count + 32 : 0 }
}

/// The fields of one object.
public struct CacheRecord: Sendable {
  /// A field and its value.
  public typealias Element = (field: CacheField, value: CacheValue)

  /// In order of hash, so that looking up stays cheap when a record has a thousand fields that differ by arguments.
  private var fields: [Element]

  /// A record without fields.
  public init() {
    fields = []
  }

  package init(reserving count: Int) {
    fields = []
    fields.reserveCapacity(count)
  }

  /// How many fields there are.
  public var count: Int { fields.count }
  /// Whether there are none.
  public var isEmpty: Bool { fields.isEmpty }

  /// The value of a field. Setting nil removes it.
  public subscript(field: CacheField) -> CacheValue? {
    get {
      let at = position(of: field)
      return at.found ? fields[at.index].value : nil
    }
    set {
      let at = position(of: field)
      switch (at.found, newValue) {
      case (true, let value?): fields[at.index].value = value
      case (true, nil): fields.remove(at: at.index)
      case (false, let value?): fields.insert((field, value), at: at.index)
      case (false, nil): break
      }
    }
  }

  /// Sets the fields of `other`; objects without identity merge when nothing says that their types differ.
  /// - Returns: the fields that have another value now.
  public mutating func merge(_ other: CacheRecord) -> [CacheField] {
    var changed: [CacheField] = []
    var growth = 0
    merge(other, changed: &changed, growth: &growth)
    return changed
  }

  /// As `merge`; `growth` becomes larger by the bytes the record gained.
  mutating func merge(_ other: CacheRecord, changed: inout [CacheField], growth: inout Int) {
    if fields.isEmpty {
      self = other
      changed.append(contentsOf: other.fields.lazy.map(\.field))
      growth += other.footprint
      return
    }
    var start = 0
    for (field, value) in other.fields {
      let at = position(of: field, from: start)
      start = at.index
      guard at.found else {
        fields.insert((field, value), at: at.index)
        changed.append(field)
        growth += Self.fieldFootprint + value.footprint
        continue
      }
      if case .object(let new) = value, case .object(var known) = fields[at.index].value, known.canBe(new) {
        var inner: [CacheField] = []
        fields[at.index].value = .leaf(.null)
        known.merge(new, changed: &inner, growth: &growth)
        fields[at.index].value = .object(known)
        if !inner.isEmpty { changed.append(field) }
      } else if fields[at.index].value != value {
        growth += value.footprint - fields[at.index].value.footprint
        fields[at.index].value = value
        changed.append(field)
      }
    }
  }

  private func canBe(_ other: CacheRecord) -> Bool {
    guard let mine = typename, let others = other.typename else { return true }
    return ByteText.isSame(mine, others)
  }

  /// Adds a field whose hash is not below any other's; false when it is there already.
  mutating func append(_ field: CacheField, _ value: CacheValue) -> Bool {
    if let last = fields.last, last.field.hash >= field.hash {
      let at = position(of: field)
      if at.found { return false }
      fields.insert((field, value), at: at.index)
    } else {
      fields.append((field, value))
    }
    return true
  }

  /// Bytes of a field beside its value: its place in the array.
  static let fieldFootprint = MemoryLayout<Element>.stride

  /// About how many bytes the record takes, names of fields not counted since they are shared.
  public var footprint: Int {
    fields.reduce(32) { $0 + Self.fieldFootprint + $1.value.footprint }
  }

  /// The object's type, when it is known.
  public var typename: String? {
    if case .leaf(.string(let name))? = self[.typename] { name } else { nil }
  }

  /// Records up to which the place is found by a scan.
  private static let scanned = 8

  private func position(of field: CacheField, from start: Int = 0) -> (index: Int, found: Bool) {
    let hash = field.hash
    var low = start
    if fields.count - low > Self.scanned {
      var high = fields.count
      while low < high {
        let middle = (low + high) / 2
        if fields[middle].field.hash < hash { low = middle + 1 } else { high = middle }
      }
    }
    while low < fields.count {
      let known = fields[low].field
      if known.hash > hash { return (low, false) }
      if known == field { return (low, true) }
      low += 1
    }
    return (low, false)
  }
}

extension CacheRecord: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of fields.
  public var endIndex: Int { fields.count }
  /// The field at `position`; the order has no meaning.
  public subscript(position: Int) -> Element { fields[position] }
}

extension CacheRecord: Hashable {
  /// Same fields with same values.
  public static func == (left: CacheRecord, right: CacheRecord) -> Bool {
    left.count == right.count && left.fields.allSatisfy { right[$0.field] == $0.value }
  }

  /// Feeds the hasher with every field, in an order that depends on the fields only.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for (field, value) in fields {
      var inner = Hasher()
      inner.combine(field)
      inner.combine(value)
      sum &+= inner.finalize()
    }
    hasher.combine(sum)
  }
}
