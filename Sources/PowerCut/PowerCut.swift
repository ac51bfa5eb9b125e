package import MartletSQLite

/// What may be on a disk after the power failed in the middle of a recording.
///
/// What was synced is there. Of what was written to a file since its last sync, any part may be there: `survives` is
/// asked for each such event. Deletions reach the disk at once, which is the harder case for a write-ahead log.
package struct PowerCut {
  private let start: [String: [UInt8]]
  private let events: [FileEvent]

  /// A disk that held `start`, then saw `events`.
  package init(start: [String: [UInt8]] = [:], events: [FileEvent]) {
    self.start = start
    self.events = events
  }

  /// What of an event since the last sync is on the disk.
  package enum Remains {
    case nothing
    case everything
    /// Of a write, the sectors of 512 bytes for which `keeps` is true, by their number in the file: a torn page.
    case sectors(_ keeps: (Int) -> Bool)
  }

  /// The files after a cut that follows the first `count` events.
  package func files(after count: Int, survives: (FileEvent) -> Bool) -> [String: [UInt8]] {
    files(after: count) { event -> Remains in survives(event) ? .everything : .nothing }
  }

  /// The files after a cut that follows the first `count` events.
  package func files(after count: Int, remains: (FileEvent) -> Remains) -> [String: [UInt8]] {
    var files = start
    var unsynced: [String: [FileEvent]] = [:]
    for event in events.prefix(count) {
      switch event {
      case .write(let path, _, _), .truncate(let path, _):
        unsynced[path, default: []].append(event)
      case .sync(let path):
        for earlier in unsynced.removeValue(forKey: path) ?? [] { Self.apply(earlier, to: &files) }
        if files[path] == nil { files[path] = [] }
      case .delete(let path):
        unsynced[path] = nil
        files[path] = nil
      }
    }
    for path in unsynced.keys.sorted() {
      for event in unsynced[path] ?? [] {
        switch remains(event) {
        case .nothing: break
        case .everything: Self.apply(event, to: &files)
        case .sectors(let keeps): for piece in Self.sectors(of: event, keeps) { Self.apply(piece, to: &files) }
        }
      }
    }
    return files
  }

  private static let sector = 512

  /// The parts of a write that `keeps` names; of another event, all of it.
  private static func sectors(of event: FileEvent, _ keeps: (Int) -> Bool) -> [FileEvent] {
    guard case .write(let path, let offset, let bytes) = event else { return [event] }
    var pieces: [FileEvent] = []
    var position = 0
    while position < bytes.count {
      let number = (offset + position) / sector
      let end = min(bytes.count, (number + 1) * sector - offset)
      if keeps(number) {
        pieces.append(.write(path: path, offset: offset + position, bytes: Array(bytes[position..<end])))
      }
      position = end
    }
    return pieces
  }

  private static func apply(_ event: FileEvent, to files: inout [String: [UInt8]]) {
    switch event {
    case .write(let path, let offset, let bytes):
      var content = files[path] ?? []
      if content.count < offset + bytes.count {
        content.append(contentsOf: repeatElement(0, count: offset + bytes.count - content.count))
      }
      content.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
      files[path] = content
    case .truncate(let path, let size):
      var content = files[path] ?? []
      if content.count > size { content.removeLast(content.count - size) }
      files[path] = content
    case .sync, .delete:
      break
    }
  }
}
