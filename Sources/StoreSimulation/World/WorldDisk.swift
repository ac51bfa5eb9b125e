internal import MartletPowerCut
internal import MartletSQLite
internal import MartletVocabulary

/// A node's disk: what was on it when its process began, and everything that happened to it since.
struct WorldDisk {
  private(set) var files: MemoryFiles
  private let start: [String: [UInt8]]
  /// The process ends when the disk has seen so many accesses.
  private(set) var fatal: Int?

  init(_ contents: [String: [UInt8]] = [:]) {
    start = contents
    files = MemoryFiles(contents)
    files.record(true)
  }

  /// The process ends at the access after `accesses` more.
  mutating func arm(_ accesses: Int) { fatal = files.eventCount + accesses }

  mutating func disarm() { fatal = nil }

  /// Whether the access has happened at which the process ends.
  var isFatal: Bool { fatal.map { files.eventCount >= $0 } ?? false }

  /// What the access was, for the count of crash points.
  var crashPoint: String {
    guard let fatal, fatal > 0, fatal <= files.eventCount else { return "between accesses" }
    switch files.events[fatal - 1] {
    case .write(let path, _, _): return "write of \(Self.kind(path))"
    case .truncate(let path, _): return "truncation of \(Self.kind(path))"
    case .sync(let path): return "sync of \(Self.kind(path))"
    case .delete(let path): return "deletion of \(Self.kind(path))"
    }
  }

  private static func kind(_ path: String) -> String {
    path.hasSuffix("-wal") ? "the log" : path.hasSuffix("-journal") ? "the journal" : "the file"
  }

  /// What is on the disk after the process has ended.
  ///
  /// - Parameter random: decides what is left of writes that were not synced when the power failed; nil when only the
  ///   process ended, and the system keeps them.
  func remains(_ random: inout SeededRandom, losesPower: Bool) -> [String: [UInt8]] {
    let count = min(fatal ?? files.eventCount, files.eventCount)
    let cut = PowerCut(start: start, events: files.events)
    guard losesPower else { return cut.files(after: count) { (_: FileEvent) -> Bool in true } }
    var chance = random
    let left = cut.files(after: count) { (_: FileEvent) -> PowerCut.Remains in
      switch chance.next() % 3 {
      case 0: return .nothing
      case 1: return .everything
      default:
        let pattern = chance.next()
        return .sectors { number in (pattern >> UInt64(number % 64)) & 1 == 1 }
      }
    }
    random = chance
    return left
  }
}
