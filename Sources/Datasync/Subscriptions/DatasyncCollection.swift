internal import MartletRuntime

/// The children of a node, decoded, in the order of a window: a new snapshot after each change.
///
/// ```swift
/// for try await contacts in try node.collection(of: Contact.self, window: .last(50)) {
///   list.apply(contacts.difference)
///   list.show(contacts.entries)
/// }
/// ```
public struct DatasyncCollection<Item: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The subscription, with which the sequence can be ended.
  public let subscription: DatasyncSubscription

  /// Ends the sequence.
  public func cancel() { subscription.cancel() }

  /// An iterator, for the sequence's one consumer.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// Takes the snapshots, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: DatasyncSubscription
    private var entries: [DatasyncSnapshot<Item>.Entry] = []

    init(subscription: DatasyncSubscription) { self.subscription = subscription }

    /// The next snapshot, with everything that has happened by then; an empty one at first when the server has no
    /// child; nil when the sequence was cancelled.
    /// - Throws: `denied` or `revoked` when the server has ended it.
    public mutating func next() async throws -> DatasyncSnapshot<Item>? {
      let core = subscription.core
      let step = await withTaskCancellationHandler {
        if Task.isCancelled { core.end(.cancellation) }
        return await core.nextBatch()
      } onCancel: {
        core.end(.cancellation)
      }
      switch step {
      case .events(let events):
        let before = entries.map(\.key)
        var changed: Set<String> = []
        for event in events {
          apply(event)
          changed.insert(event.key)
        }
        let keys = entries.map(\.key)
        return DatasyncSnapshot(
          entries: entries, difference: keys.difference(from: before), changedKeys: keys.filter(changed.contains))
      case .ended(.cancellation): return nil
      case .ended(let completion): throw TreeSubscriptionCore.error(completion)
      }
    }

    private mutating func apply(_ event: DatasyncEvent) {
      let old = entries.firstIndex { $0.key.utf8.elementsEqual(event.key.utf8) }
      switch event.eventType {
      case .childAcknowledgement:
        if let old { entries[old] = DatasyncSnapshot.Entry(event) }
      case .childRemoval:
        if let old { entries.remove(at: old) }
      case .childAddition, .childChange:
        if let old { entries.remove(at: old) }
        let previous = event.previousChildKey.flatMap { key in
          entries.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        }
        entries.insert(DatasyncSnapshot.Entry(event), at: previous.map { $0 + 1 } ?? 0)
      default: return
      }
    }
  }
}

/// The children of a node at one moment.
public struct DatasyncSnapshot<Item: Decodable & Sendable>: Sendable {
  /// One child.
  public struct Entry: Sendable, Identifiable {
    /// The child's key.
    public let key: String
    /// The child's value.
    public let value: DatasyncValue
    /// The decoded value; nil when it does not fit the type.
    public let item: Item?
    /// The key.
    public var id: String { key }
    /// Whether the server has accepted it.
    public var isAcknowledged: Bool { value.isAcknowledged }

    init(_ event: DatasyncEvent) {
      key = event.key
      value = event.value
      item = event.value.decoded(as: Item.self)
    }
  }

  /// The children, in the window's order.
  public let entries: [Entry]
  /// The keys that have come, gone and moved since the snapshot before.
  public let difference: CollectionDifference<String>
  /// Keys of children in `entries` that are new, or have another value, place or acknowledgement, in their order.
  public let changedKeys: [String]

  /// The decoded values, in the window's order; those that do not fit the type are left out.
  public var items: [Item] { entries.compactMap(\.item) }
}

extension DatasyncNode {
  /// The children as an ordered collection that follows the tree.
  ///
  /// - Throws: as `events(_:window:acknowledgements:)`.
  public func collection<Item: Decodable & Sendable>(
    of type: Item.Type, window: DatasyncWindow = .all
  ) throws(DatasyncError) -> DatasyncCollection<Item> {
    DatasyncCollection(subscription: try events(.childEvent, window: window).subscription)
  }
}
