package import MartletVocabulary

/// Entries on their way to a sink: bounded, and with repeated entries merged. Decides; writes nothing.
package struct LogQueue {
  /// What entries have in common that are merged: the message, and the status or field that distinguishes its cases.
  private struct Kind: Hashable {
    let message: String
    let detail: String
  }

  /// The entries of one kind in its current interval.
  private struct Repeats {
    let end: Instant
    var written = 0
    var omitted = 0
    var last: Log.Entry
  }

  /// May change at any time: a log is made before the server whose bounds it gets.
  package var limits: LogLimits
  private var waiting: [Log.Entry] = []
  private var kinds: [Kind: Repeats] = [:]
  /// Entries that did not reach the sink, and have not been reported.
  private var lost = 0

  package init(_ limits: LogLimits) {
    self.limits = limits
  }

  package var isEmpty: Bool { waiting.isEmpty }

  /// When `take` has something to say of entries that were left out; nil when none were.
  package var nextEnd: Instant? {
    kinds.values.lazy.filter { $0.omitted > 0 }.map(\.end).min()
  }

  /// An entry was written.
  package mutating func add(_ entry: Log.Entry, now: Instant) {
    let entry = entry.cut(limits.valueBytes)
    let kind = kind(of: entry)
    if let repeats = kinds[kind], repeats.end <= now { endInterval(of: kind, repeats) }
    var repeats = kinds[kind] ?? Repeats(end: now + limits.repeatInterval, last: entry)
    if repeats.written < limits.repeats {
      repeats.written += 1
      append(entry)
    } else {
      repeats.omitted += 1
    }
    repeats.last = entry
    kinds[kind] = repeats
  }

  /// Removes and returns what the sink shall be given now. `isLast` ends every interval, for a log that is flushed.
  package mutating func take(now: Instant, isLast: Bool = false) -> [Log.Entry] {
    for (kind, repeats) in kinds where isLast || repeats.end <= now { endInterval(of: kind, repeats) }
    defer { waiting.removeAll() }
    return waiting
  }

  /// An entry that was taken could not be written.
  package mutating func noteLoss(of count: Int = 1) {
    lost += count
  }

  /// The entry that reports those lost since the last report; nil when there are none. The sink must have worked just
  /// now.
  package mutating func takeLossReport(milliseconds: Int64) -> (entry: Log.Entry, count: Int)? {
    guard lost > 0 else { return nil }
    defer { lost = 0 }
    let entry = Log.Entry(
      milliseconds: milliseconds, level: .warning, message: "Entries of the log were lost: they could not be written.",
      metadata: [(.count, "\(lost)")])
    return (entry, lost)
  }

  private mutating func append(_ entry: Log.Entry) {
    guard waiting.count < limits.queuedEntries else {
      lost += 1
      return
    }
    waiting.append(entry)
  }

  private mutating func endInterval(of kind: Kind, _ repeats: Repeats) {
    kinds[kind] = nil
    guard repeats.omitted > 0 else { return }
    let last = repeats.last
    append(
      Log.Entry(
        milliseconds: last.milliseconds, level: last.level, message: last.message,
        metadata: last.metadata + [(.repeated, "\(repeats.omitted)")]))
  }

  private func kind(of entry: Log.Entry) -> Kind {
    let detail = entry.metadata.first { $0.key == .status || $0.key == .field }?.value ?? ""
    let kind = Kind(message: entry.message, detail: detail)
    guard kinds[kind] == nil, kinds.count >= limits.kinds else { return kind }
    return Kind(message: "", detail: "")
  }
}
