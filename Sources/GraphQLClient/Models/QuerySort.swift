/// In which order records are wanted: `.ascending(post.rating)`, or several, `[.descending(post.rating),
/// .ascending(post.id)]`.
public struct QuerySort: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// One field and its direction.
  public struct Order: Sendable, Hashable {
    /// The field's name.
    public var field: String
    /// Whether large values come first.
    public var isDescending: Bool

    /// Small values first.
    public static func ascending(_ key: some ModelKey) -> Order { Order(field: key.stringValue, isDescending: false) }
    /// Large values first.
    public static func descending(_ key: some ModelKey) -> Order { Order(field: key.stringValue, isDescending: true) }
  }

  /// The orders; a later one decides between records that are equal in all before it.
  public var orders: [Order]

  /// Several orders, the first being the most important.
  public init(arrayLiteral elements: Order...) { orders = elements }

  /// Several orders, the first being the most important.
  public init(_ orders: [Order]) { self.orders = orders }

  /// Small values first.
  public static func ascending(_ key: some ModelKey) -> QuerySort { QuerySort([.ascending(key)]) }
  /// Large values first.
  public static func descending(_ key: some ModelKey) -> QuerySort { QuerySort([.descending(key)]) }
}
