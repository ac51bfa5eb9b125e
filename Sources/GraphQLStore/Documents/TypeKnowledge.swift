internal import MartletGraphQLDocuments
internal import MartletJSON

/// What is known of which objects belong to which types: from a schema, from the configuration, or seen in data.
///
/// Without either of the first two, a fragment on a type that is not the object's own is judged by the data: when a
/// server sends fields that only the fragment asks for, the object belongs to the type, and does not when they lack.
/// That is remembered for each pair of types. A name that was seen as an object's own type has no other objects. While
/// a pair is not known, reading asks for the fragment's fields: the answer may show more than the server's would, not
/// less.
struct TypeKnowledge {
  private let schema: Schema?
  /// Types that the schema refers to and does not define.
  private let missing: Set<String>
  private let possibleTypes: [String: Set<String>]
  private var learned: [String: Bool] = [:]
  private var objects: Set<String> = []
  /// Pairs remembered at most: more come only from documents and servers that make up types.
  private static let limit = 10_000
  /// Grows with everything learned, so that what was guessed earlier can be looked at again.
  private(set) var version = 0

  init(_ known: PartialSchema?, possibleTypes: [String: Set<String>]) {
    schema = known?.schema
    missing = known?.missing ?? []
    self.possibleTypes = possibleTypes
    for names in possibleTypes.values { objects.formUnion(names) }
  }

  /// Whether objects of type `object` belong to `condition`; nil while that is unknown.
  func belongs(_ object: String?, to condition: String) -> Bool? {
    guard let object else { return nil }
    if ByteText.isSame(object, condition) { return true }
    if let type = schema?.type(condition), let own = schema?.type(object) {
      let belongs = type.includes(own.id)
      if belongs || !missing.contains(object) && !missing.contains(condition) { return belongs }
    }
    if let possible = possibleTypes[condition] { return possible.contains(object) }
    if objects.contains(condition) { return false }
    return learned[Self.pair(object, condition)]
  }

  /// The name of the root type whose fields an operation selects; nil without a schema, and for fragments.
  func root(of root: BoundOperation.Root) -> String? {
    switch root {
    case .kept("QUERY_ROOT"): schema?.queryType?.name
    case .kept: schema?.subscriptionType?.name
    case .dropped: schema?.mutationType?.name
    case .object: nil
    }
  }

  /// The one type that objects of a field have by the schema; nil where it is not known, or could be several.
  func type(of field: String, on parent: String) -> String? {
    guard let schema, let found = schema.type(parent)?.field(field) else { return nil }
    let type = schema[found.type.named]
    return type.kind == .object && !missing.contains(type.name) ? type.name : nil
  }

  private static func pair(_ object: String, _ condition: String) -> String { object + " " + condition }

  mutating func saw(object: String) {
    if objects.count < Self.limit, objects.insert(object).inserted { version += 1 }
  }

  mutating func saw(_ object: String, in condition: String, _ belongs: Bool) {
    guard learned.count < Self.limit else { return }
    learned[Self.pair(object, condition)] = belongs
    version += 1
  }

  /// What was learned, as a record for caches that outlive the process: a pair of types and whether the first belongs
  /// to the second; a type alone for an object's own.
  var record: CacheRecord {
    var record = CacheRecord()
    for (pair, belongs) in learned { record[CacheField(pair)] = .leaf(.bool(belongs)) }
    for name in objects { record[CacheField(name)] = .leaf(.bool(true)) }
    return record
  }

  mutating func remember(_ record: CacheRecord) {
    for (field, value) in record {
      guard case .leaf(.bool(let belongs)) = value else { continue }
      if field.text.utf8.contains(UInt8(ascii: " ")) {
        learned[field.text] = belongs
      } else {
        objects.insert(field.text)
      }
    }
  }
}
