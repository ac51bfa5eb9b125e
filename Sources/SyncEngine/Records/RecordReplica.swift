internal import MartletJSON
package import MartletModels

/// One record on this client: the server's image and the local writes over it, in order.
///
/// The visible record is the server's with the pending writes applied. Each function is one transition that a store
/// makes in one transaction, from rows it has read to rows it writes.
package struct RecordReplica: Sendable, Hashable {
  /// The server's image; nil for a record that the server has never sent.
  package private(set) var server: ServerImage?
  /// Local writes, by ascending number. Only the first can have been sent.
  package private(set) var pending: [PendingWrite]
  /// Whether a new write may become a part of one that waits.
  package var mergesWrites = true

  /// A record as a store has it.
  package init(server: ServerImage? = nil, pending: [PendingWrite] = []) {
    self.server = server
    self.pending = pending
  }

  /// What queries see.
  package var visible: Record? { pending.reduce(server?.record) { $1.applied(to: $0) } }

  // MARK: Local writes

  /// What became of a local write.
  package enum Enqueued: Sendable, Hashable {
    /// It is a write of its own.
    case added
    /// It is part of an earlier write, whose number now stands for both.
    case merged(into: Int64)
    /// It and the writes with these numbers cancel each other: there is nothing to send.
    case cancelled([Int64])
  }

  /// A local write that does not fit the visible record.
  package enum WriteError: Error, Sendable, Hashable {
    /// A record with this key exists.
    case exists
    /// There is no record with this key.
    case missing
  }

  /// Saves `record` whole: a creation, or an update of the fields that differ from what is visible. Nil when nothing
  /// differs.
  ///
  /// - Parameter form: a record as the caller sees it and would write it back, where that can differ: a date's other
  ///   text, an embedded value without the members that the caller's type lacks. What differs in this form is written.
  package mutating func save(
    _ record: Record, number: Int64, condition: Predicate? = nil, form: (Record) -> Record? = { _ in nil }
  ) throws(WriteError) -> Enqueued? {
    guard let visible else {
      return try write(PendingWrite(number: number, content: .create(record), condition: condition))
    }
    var patches = visible.patches(to: record)
    if patches.contains(where: { visible[$0.field].hasForms }), let seen = form(visible) {
      patches = patches.filter { seen[$0.field] != $0.new }
      for index in patches.indices {
        let (field, new) = (patches[index].field, patches[index].new)
        patches[index].new = FieldValue.written(new, over: visible[field], knowing: seen[field])
      }
    }
    guard !patches.isEmpty || condition != nil else { return nil }
    return try write(PendingWrite(number: number, content: .update(patches), condition: condition))
  }

  /// Adds a write, or merges it with the last one when that has not been sent and neither has a condition.
  package mutating func write(_ new: PendingWrite) throws(WriteError) -> Enqueued {
    switch (new.content, visible == nil) {
    case (.create, false): throw .exists
    case (.update, true), (.delete, true): throw .missing
    case (.create, true), (.update, false), (.delete, false): break
    }
    guard mergesWrites, let last = pending.last, !last.isSent, last.condition == nil, new.condition == nil else {
      return add(new)
    }
    switch (last.content, new.content) {
    case (.create(let record), .update):
      guard let merged = new.applied(to: record) else { return add(new) }
      return replaceLast(.create(merged))
    // The server has a record there, which the deletion is for.
    case (.create, .delete) where last.over != nil:
      pending[pending.count - 1].over = nil
      return replaceLast(.delete)
    case (.create, .delete):
      pending.removeLast()
      return .cancelled([last.number])
    case (.update(let earlier), .update(let later)):
      let patches = Self.merged(earlier, later)
      if patches.isEmpty {
        pending.removeLast()
        return .cancelled([last.number])
      }
      return replaceLast(.update(patches))
    case (.update, .delete): return replaceLast(.delete)
    // A record that is deleted and made again is another record: both writes are sent, in order.
    case (.delete, .create): return add(new)
    case (_, .create), (.delete, .update), (.delete, .delete): return add(new)
    }
  }

  /// The record was made before the store had a server: a write with this number creates it there. Nil when it waits
  /// for the server already, or is not there.
  package mutating func adopt(number: Int64) -> Enqueued? {
    guard pending.isEmpty, let record = server?.record else { return nil }
    server = nil
    return add(PendingWrite(number: number, content: .create(record)))
  }

  private mutating func add(_ write: PendingWrite) -> Enqueued {
    pending.append(write)
    return .added
  }

  private mutating func replaceLast(_ content: PendingWrite.Content) -> Enqueued {
    pending[pending.count - 1].content = content
    return .merged(into: pending[pending.count - 1].number)
  }

  /// Both patches in one: it replaces what the earlier one replaced. Fields that are back at that value are left out.
  private static func merged(_ earlier: [FieldPatch], _ later: [FieldPatch]) -> [FieldPatch] {
    var patches = earlier
    for patch in later {
      if let place = patches.firstIndex(where: { $0.field == patch.field }) {
        patches[place].new = patch.new
      } else {
        patches.append(patch)
      }
    }
    return patches.filter { $0.old != $0.new }.sorted { $0.field < $1.field }
  }

  // MARK: The server's answers

  /// Takes an image from the feed, from a page or from an answer. Returns whether it is newer than the one before;
  /// others change nothing, so that a page that was read earlier never brings a removed record back.
  @discardableResult
  package mutating func receive(_ image: ServerImage) -> Bool {
    if let server, image.position <= server.position { return false }
    server = image
    server?.hidden = nil
    return true
  }

  /// Takes a change. One that has some fields only is made on the image before it; without that image it is about a
  /// record that this client does not have.
  @discardableResult
  package mutating func receive(_ change: RemoteChange) -> Bool {
    guard let changed = change.changed else { return receive(change.image) }
    guard var record = server?.record else { return false }
    for (field, value) in changed where field < record.values.count { record.values[field] = value }
    var image = change.image
    image.record = record
    return receive(image)
  }

  /// A full sync whose snapshot has `position` did not have the record: it was deleted, left the filter, or may no
  /// longer be read. Returns whether it was there.
  package mutating func sweep(at position: Int64) -> Bool {
    guard let server, server.record != nil, server.position <= position else { return false }
    // One less, so that an image of the same position is taken: a caller who may read the record again gets it although
    // nothing was written meanwhile.
    self.server = ServerImage(record: nil, version: server.version, position: position - 1)
    return true
  }

  /// The write with this number is sent, perhaps again.
  package mutating func send(_ number: Int64) {
    if let place = place(of: number) { pending[place].isSent = true }
  }

  /// The server has applied the write with this number; `image` is the record after it.
  package mutating func acknowledge(_ number: Int64, _ image: ServerImage?) {
    if let place = place(of: number) {
      // What a new record has other than it was sent with is the server's default or form of it, not another client's
      // change: a later write replaces that.
      if case .create(let sent) = pending.remove(at: place).content, let stored = image?.record {
        replace(sent.patches(to: stored), after: place)
      }
    }
    if let image { receive(image) }
  }

  /// Later writes that replace the old value of one of these patches replace the new one: the server does not have the
  /// old one. Of each field only the first later write is concerned.
  private mutating func replace(_ changes: [FieldPatch], after place: Int) {
    var left = Dictionary(changes.map { ($0.field, $0) }) { first, _ in first }
    for later in pending.indices[place...] {
      guard case .update(var patches) = pending[later].content else { return }
      for index in patches.indices {
        guard let change = left.removeValue(forKey: patches[index].field), patches[index].old == change.old else {
          continue
        }
        patches[index].old = change.new
      }
      pending[later].content = .update(patches)
    }
  }

  /// The server has refused the write for good. What it changed is no longer visible, nor what builds on it: later
  /// writes of a record whose creation was refused are refused with it.
  package mutating func reject(_ number: Int64, _ reason: DeadLetter.Reason, _ image: ServerImage? = nil)
    -> [DeadLetter]
  {
    if let image { receive(image) }
    guard let place = place(of: number) else { return [] }
    let refused = pending.remove(at: place)
    var letters = [DeadLetter(write: refused, reason: reason)]
    // The server has what the refused write would have replaced, unless another client has changed it. A write whose
    // outcome is forgotten may have been applied: later ones then continue it.
    if case .update(let patches) = refused.content, reason.isOutcomeKnown {
      replace(patches.map { FieldPatch(field: $0.field, old: $0.new, new: $0.old) }, after: place)
    }
    // What follows must fit the record without the refused write.
    var record = pending[..<place].reduce(server?.record) { $1.applied(to: $0) }
    var kept = Array(pending[..<place])
    for write in pending[place...] {
      if case .create = write.content, record != nil {
        letters.append(DeadLetter(write: write, reason: .dependsOn(number: number)))
      } else if record == nil, write.needsRecord {
        letters.append(DeadLetter(write: write, reason: .dependsOn(number: number)))
      } else {
        kept.append(write)
        record = write.applied(to: record)
      }
    }
    pending = kept
    return letters
  }

  /// What the application does about a conflict.
  package enum Resolution: Sendable, Hashable {
    /// The server's record stays.
    case applyRemote
    /// The local change is made again on the server's record.
    case retryLocal
    /// This record is written in place of the local change.
    case retry(Record)
  }

  /// Resolves a conflict of the write with this number against the server's image. Returns the writes that end here.
  ///
  /// - Parameter newNumber: the number of the write that replaces it: the server has given the old number its outcome.
  package mutating func resolve(
    _ number: Int64, _ resolution: Resolution, _ image: ServerImage, newNumber: Int64
  ) -> [DeadLetter] {
    receive(image)
    guard let place = place(of: number) else { return [] }
    // A deleted record is not written again by an update, and needs no second deletion.
    guard let current = server?.record ?? image.hidden, resolution != .applyRemote else {
      if server?.record == nil, case .delete = pending[place].content {
        pending.remove(at: place)
        return []
      }
      return reject(number, .conflict)
    }
    let earlier = pending[place].content
    pending[place].over = nil
    switch (resolution, earlier) {
    // The row stays visible: the store shows nothing of the record that the server has there.
    case (.retry(let record), .create) where server?.record == nil: create(record, over: current, at: place)
    case (_, .create(let record)) where server?.record == nil:
      create(record.filled(from: current), over: current, at: place)
    case (.retry(let record), _): pending[place].content = .update(current.patches(to: record))
    case (_, .delete): break
    case (_, .create(let record)): pending[place].content = .update(current.patches(to: record.filled(from: current)))
    case (_, .update(let patches)):
      pending[place].content = .update(
        patches.map { FieldPatch(field: $0.field, old: current[$0.field], new: $0.made(on: current[$0.field])) })
    }
    if resolution == .retryLocal { rebase(after: place, earlier) }
    pending[place].number = newNumber
    pending[place].isSent = false
    pending[place].conflicts += 1
    return []
  }

  private mutating func create(_ record: Record, over current: Record, at place: Int) {
    pending[place].content = .create(record)
    pending[place].over = current
  }

  /// The write at `place` was made again and may leave other values than before: later writes are made on these.
  private mutating func rebase(after place: Int, _ earlier: PendingWrite.Content) {
    var changes: [FieldPatch]
    switch (earlier, pending[place].content) {
    case (.create(let before), .create(let after)): changes = before.patches(to: after)
    // Fields that the creation did not give are the server's, whose record is the base of the update.
    case (.create(let before), .update):
      changes = server?.record.flatMap { pending[place].applied(to: $0) }.map { before.patches(to: $0) } ?? []
    case (.update(let before), .update(let after)):
      changes = zip(before, after).map { FieldPatch(field: $0.field, old: $0.new, new: $1.new) }
    case (_, _): changes = []
    }
    var left = Dictionary(changes.filter { $0.old != $0.new }.map { ($0.field, $0) }) { first, _ in first }
    for later in pending.indices[(place + 1)...] {
      guard case .update(var patches) = pending[later].content else { return }
      for index in patches.indices {
        let patch = patches[index]
        guard let change = left.removeValue(forKey: patch.field), patch.old == change.old else { continue }
        patches[index].old = change.new
        patches[index].new = patch.made(on: change.new)
        left[patch.field] = FieldPatch(field: patch.field, old: patch.new, new: patches[index].new)
      }
      pending[later].content = .update(patches)
    }
  }

  /// Gives an unsent write another number. The order of the writes stays.
  package mutating func renumber(_ number: Int64, _ newNumber: Int64) {
    if let place = place(of: number), !pending[place].isSent { pending[place].number = newNumber }
  }

  private func place(of number: Int64) -> Int? { pending.firstIndex { $0.number == number } }
}

extension PendingWrite {
  /// Whether the write changes a record that must be there.
  fileprivate var needsRecord: Bool {
    switch content {
    case .create: false
    case .update, .delete: true
    }
  }
}

extension Record {
  /// The fields in which `other` differs.
  package func patches(to other: Record) -> [FieldPatch] {
    (0..<max(values.count, other.values.count)).compactMap { field in
      self[field] == other[field] ? nil : FieldPatch(field: field, old: self[field], new: other[field])
    }
  }

  /// The record with another's values in the fields that it has none for: a creation does not give these.
  package func filled(from other: Record) -> Record {
    var filled = self
    for field in values.indices where values[field].isNull { filled.values[field] = other[field] }
    return filled
  }
}

extension JSONValue {
  /// Whether the same value can be written in another form.
  fileprivate var hasForms: Bool {
    switch self {
    case .string, .array, .object: true
    case _: false
    }
  }
}
