public import MartletJSON

/// The value of a field in a record.
public indirect enum CacheValue: Sendable, Hashable {
  /// A leaf: null, a scalar of any shape, an enum value.
  case leaf(JSONValue)
  /// An object that is a record of its own.
  case reference(CacheKey)
  /// An object without identity, kept where it stands.
  case object(CacheRecord)
  /// A list of any of these.
  case list([CacheValue])
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

  /// The object's type, when it is known.
  public var typename: String? {
    if case .leaf(.string(let name))? = self[.typename] { name } else { nil }
  }

  /// Records up to which the place is found by a scan.
  private static let scanned = 8

  private func position(of field: CacheField) -> (index: Int, found: Bool) {
    let hash = field.hash
    var low = 0
    if fields.count > Self.scanned {
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
