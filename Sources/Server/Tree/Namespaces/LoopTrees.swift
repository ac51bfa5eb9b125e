internal import MartletChangeFeed
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// The trees as one loop serves them: the first one, and each namespace once it has been asked for. Confined to its
/// loop.
final class LoopTrees {
  /// A namespace that is open on this loop.
  private struct Opened {
    var service: TreeService
    var feed: TreeFeed
  }

  let first: TreeService
  private let spaces: TreeNamespaces
  private let access: AccessControl
  private var opened: [String: Opened] = [:]

  init(_ first: TreeService, _ spaces: TreeNamespaces, access: AccessControl) {
    self.first = first
    self.spaces = spaces
    self.access = access
  }

  /// The trees that are open here, the first one first.
  var services: [TreeService] {
    [first] + opened.sorted { $0.key < $1.key }.map(\.value.service)
  }

  /// The tree that a request's `ns` names, at once when it is open.
  ///
  /// - Parameter completion: runs on the loop, before this returns or later.
  func find(_ name: String?, _ completion: @escaping (Result<TreeService, TreeRefusal>) -> Void) {
    switch spaces.find(name) {
    case .first: completion(.success(first))
    case .unknown: completion(.failure(.unknownNamespace(name ?? "")))
    case .space(let space):
      if let open = opened[space.name] { return completion(.success(open.service)) }
      let done = LoopBound((self, completion), on: first.loop)
      spaces.open(space) { result in
        done.loop.execute {
          let (trees, completion) = done.value
          completion(result.map { trees.serve(space, $0) }.mapError { .store($0) })
        }
      }
    }
  }

  /// Makes what clients of an earlier process have left, once they have been waited for: in the first tree, and in
  /// namespaces, which are opened for it. On one loop of a server.
  func recoverLeases() {
    first.recoverLeases()
    let done = LoopBound(self, on: first.loop)
    spaces.findLeftWrites { name in
      done.loop.execute { done.value.find(name) { _ in } }
    }
  }

  private func serve(_ space: TreeNamespace, _ store: Store) -> TreeService {
    if let open = opened[space.name] { return open.service }
    let feed = TreeFeed(store, on: first.loop)
    let service = TreeService(
      store, space.policy, space.leases, on: first.loop, feed.destination, access: access, calendar: first.calendar,
      limits: first.limits, log: first.writing.log)
    feed.start(service)
    opened[space.name] = Opened(service: service, feed: feed)
    if space.recovers { service.recoverLeases() }
    return service
  }

  func stop() {
    for open in opened.values { open.feed.stop() }
    opened = [:]
  }
}

/// The log of a namespace on one loop, for its tree alone. Confined to its loop.
final class TreeFeed: DeliveryReceiver {
  let destination: FeedDestination
  private let store: Store
  private let loop: any Loop
  private let writes: TurnWrites
  private weak var service: TreeService?

  init(_ store: Store, on loop: any Loop) {
    (self.store, self.loop) = (store, loop)
    destination = FeedDestination(store, on: loop)
    writes = TurnWrites(store, on: loop, destination)
  }

  func start(_ service: TreeService) {
    self.service = service
    destination.attach(LoopBound(self, on: loop))
    service.begins(after: store.register(destination).head)
  }

  func stop() {
    store.unregister(destination)
    destination.detach()
  }

  func receive(_ delivery: StoreDelivery) {
    delivery.finish()
    if let batch = delivery.batch { service?.apply(batch) }
  }

  func add(_ write: StoreSubmission) { writes.add(write) }
  func countRefusedWrite() {}
}
