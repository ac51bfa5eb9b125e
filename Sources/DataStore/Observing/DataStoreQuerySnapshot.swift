public import MartletGraphQLClient
internal import MartletLiveQueries

/// The result of a live query at one moment, and how it differs from the snapshot before.
public struct DataStoreQuerySnapshot<M: Model>: Sendable {
  /// The records, in the query's order.
  public let items: DataStoreItems<M>
  /// Whether the sync of this model has finished since `start()`. Always true for a store without a server.
  public let isSynced: Bool
  /// How the items differ from those of the snapshot before; in the first one all items are insertions.
  public let changes: DataStoreChanges
}

/// The records of a snapshot. A copy costs nothing: snapshots share what they have in common.
public struct DataStoreItems<M: Model>: RandomAccessCollection, Sendable {
  /// A reference, so that copying a piece of a list costs the same for models of any size.
  @usableFromInline
  final class Item: Sendable {
    @usableFromInline let model: M
    @usableFromInline let isPending: Bool

    @inlinable
    init(model: M, isPending: Bool) {
      self.model = model
      self.isPending = isPending
    }
  }

  private enum Content: Sendable {
    /// Items of the query's own.
    case objects(SharedObjects)
    /// The rows of the query's window, each of which holds its item.
    case rows(VisibleRows, DecodedRows)
  }

  private let content: Content

  init(_ objects: SharedObjects = SharedObjects()) { content = .objects(objects) }

  /// Rows that all have their values.
  init(_ rows: VisibleRows, _ decoded: DecodedRows) { content = .rows(rows, decoded) }

  /// Every object was made for this model, by its `DecodedRows`.
  private func item(_ index: Int) -> Item {
    switch content {
    case .objects(let objects): unsafe unsafeDowncast(objects[index], to: Item.self)
    case .rows(let rows, let decoded): unsafe unsafeDowncast(decoded.known(rows[index]), to: Item.self)
    }
  }

  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of records.
  public var endIndex: Int {
    switch content {
    case .objects(let objects): objects.count
    case .rows(let rows, _): rows.count
    }
  }
  /// The record at `index`.
  public subscript(index: Int) -> M { item(index).model }

  /// Whether a write to the record at `index` waits for the server's acknowledgement.
  public func isPending(at index: Int) -> Bool { item(index).isPending }
}

/// How one snapshot's items became the next one's, in indices of both.
///
/// Applied in this order: remove the items at `deletions` and at the old indices of `moves`, insert those at
/// `insertions` and at the new indices of `moves`, replace those at `updates`.
public struct DataStoreChanges: Sendable, Hashable {
  /// An item that is at another place among those that stayed.
  public struct Move: Sendable, Hashable {
    /// The index in the snapshot before.
    public var from: Int
    /// The index in this snapshot.
    public var to: Int
  }

  /// Indices in the snapshot before, ascending.
  public var deletions: [Int]
  /// Indices in this snapshot, ascending.
  public var insertions: [Int]
  /// Items that changed their place.
  public var moves: [Move]
  /// Indices in this snapshot of items that changed at their place, ascending.
  public var updates: [Int]

  init(_ changes: ChangeSet) {
    deletions = changes.deletions
    insertions = changes.insertions
    moves = changes.moves.map { Move(from: $0.from, to: $0.to) }
    updates = changes.updates
  }
}
