internal import MartletRuntime

/// What an application expects to be true before the server has said so. Watchers see it; the cache does not keep it.
///
/// It stays until it is rolled back, or replaced by the server's answer.
public final class OptimisticUpdate: Sendable {
  private struct Shared {
    var isActive = true
    var failure: (any Error)?
  }
  let number: Int
  private let store: GraphQLStore
  private let shared = Lock(Shared())

  init(number: Int, store: GraphQLStore) {
    self.number = number
    self.store = store
  }

  /// Whether the update is in force.
  public var isActive: Bool { shared.withLock { $0.isActive } }

  /// Why the update ended by itself: what its body threw when it ran again over changed data.
  public var failure: (any Error)? { shared.withLock { $0.failure } }

  /// Takes the update back. Updates made after it run again without it.
  /// - Throws: `insideTransaction`.
  public func rollBack() throws(GraphQLStoreError) {
    try store.rollBack(self)
  }

  func end(_ failure: (any Error)?) {
    shared.withLock {
      $0.isActive = false
      $0.failure = failure
    }
  }
}

/// An optimistic update in force.
struct OptimisticLayer {
  let handle: OptimisticUpdate
  let body: @Sendable (ReadWriteTransaction) throws -> Void
  var overlay = Overlay()
  /// Records the body looked at.
  var reads: Set<CacheKey> = []

  /// All records it touches, as changes.
  var changes: [CacheDifference.Change] { overlay.patches.keys.map { CacheDifference.Change($0, fields: nil) } }
}

extension StoreCore {
  func add(layer handle: OptimisticUpdate, _ body: @escaping @Sendable (ReadWriteTransaction) throws -> Void) throws {
    var layer = OptimisticLayer(handle: handle, body: body)
    try run(&layer, over: layers.count)
    layers.append(layer)
    var changes = layer.changes
    while layers.count > max(1, configuration.limits.optimisticUpdates), let oldest = layers.first {
      oldest.handle.end(nil)
      changes += remove(layer: oldest.handle.number)
    }
    tell(changes)
  }

  /// Takes a layer out; answers what looks different.
  func remove(layer number: Int) -> [CacheDifference.Change] {
    guard let index = layers.firstIndex(where: { $0.handle.number == number }) else { return [] }
    let layer = layers.remove(at: index)
    layer.handle.end(nil)
    return layer.changes
  }

  private func run(_ layer: inout OptimisticLayer, over count: Int) throws {
    counters.optimisticRuns += 1
    let transaction = ReadWriteTransaction(self, layers: count)
    defer { transaction.finish() }
    try layer.body(transaction)
    layer.overlay = transaction.overlay
    layer.reads = transaction.reads
  }

  /// Runs layers again that read something of `changes`; answers what looks different because of that.
  func rerun(after changes: [CacheDifference.Change]) -> [CacheDifference.Change] {
    var touched = Set(changes.map(\.key))
    var further: [CacheDifference.Change] = []
    var index = 0
    while index < layers.count {
      var layer = layers[index]
      let isConcerned =
        layer.reads.count < touched.count
        ? layer.reads.contains(where: touched.contains) : touched.contains(where: layer.reads.contains)
      guard isConcerned else {
        index += 1
        continue
      }
      var different = layer.changes
      do {
        try run(&layer, over: index)
        different += layer.changes
        layers[index] = layer
        index += 1
      } catch {
        layer.handle.end(error)
        layers.remove(at: index)
      }
      further += different
      touched.formUnion(different.map(\.key))
    }
    return further
  }
}
