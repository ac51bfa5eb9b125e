internal import MartletJSONTree

/// How a large value is shown in parts.
struct TreeParts {
  /// Bytes of one part.
  var bytes: Int
  /// Leaves and paths of changes that are kept between two parts; beyond it the value is read from its beginning.
  var mostEarly: Int
}

/// A value of which a first part has been shown.
struct TreeLoad {
  /// The path of the last row that was shown.
  var last: TreePath?
  /// Of the next part.
  var number: Int64

  /// Whether changes below `path` concern rows that were shown. Others are read with the parts that follow.
  func concerns(_ changes: SharedChanges, at path: TreePath) -> Bool {
    guard let last else { return false }
    return changes.writes.contains { write in
      let written = path.appending(write.path)
      let row = written.key?.isPriority == true ? written.parent ?? .root : written
      return row <= last
    }
  }
}

/// The listeners of one connection whose values, or further parts of them, are to be read: some at a time, and none
/// while what was sent waits for the client. Confined to its loop.
final class TreeLoads {
  private let service: TreeService
  /// Bytes that wait for the client.
  private let pendingBytes: () -> Int
  private var queue: [TreeListener] = []
  private var first = 0
  private var running: Set<ObjectIdentifier> = []

  init(_ service: TreeService, pendingBytes: @escaping () -> Int) {
    (self.service, self.pendingBytes) = (service, pendingBytes)
  }

  /// Reads a listener's value when its turn comes.
  func add(_ listener: TreeListener) {
    guard !running.contains(ObjectIdentifier(listener)) else { return }
    queue.append(listener)
    next()
  }

  /// A read of the listener has ended, or it has.
  func ended(_ listener: TreeListener) {
    guard !listener.isReading || listener.isEnded, running.remove(ObjectIdentifier(listener)) != nil else { return }
    if listener.isUnread { queue.append(listener) }
    next()
  }

  /// Begins the reads that may be made now.
  func next() {
    while first < queue.count, running.count < service.limits.readsAtOnce,
      pendingBytes() <= service.limits.pendingBytes
    {
      let listener = queue[first]
      first += 1
      guard listener.isUnread, running.insert(ObjectIdentifier(listener)).inserted else { continue }
      service.refresh(listener)
    }
    if first == queue.count || first > 1_024 {
      queue.removeFirst(first)
      first = 0
    }
  }
}
