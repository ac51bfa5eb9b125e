package import MartletJSON
package import MartletModels

/// The rows of a store after a commit and, by the images that the commit replaced, before it: what queries over
/// relations are evaluated on.
///
/// Rows of the state before are those of the store without the changed ones, and the images of these before the commit.
/// So nothing has to be kept between commits, and only rows that a relation's index finds are touched.
package final class CommitRows {
  /// The rows of a model that have `values` in `fields`, as of the last commit.
  package typealias Lookup = (_ model: Int, _ fields: [Int], _ values: [JSONValue]) throws -> [LiveRow]

  /// A state of the store.
  package enum State { case before, after }

  /// The images of one record before and after a commit.
  package struct Images {
    package var before: LiveRow?
    package var after: LiveRow?
  }

  private struct FieldSet: Hashable {
    var model: Int
    var fields: [Int]
  }

  private let lookup: Lookup
  private var changed: [Int: [RecordKey: RowChange]] = [:]
  private var order: [Int: [RecordKey]] = [:]
  /// The changed records' images before the commit, by model, fields and values.
  private var earlier: [FieldSet: [[JSONValue]: [LiveRow]]] = [:]
  /// Rows that look-ups gave.
  package private(set) var rowsRead = 0

  /// The states around a commit with these changes; without changes both are the store as it is.
  package init(_ changes: [RowChange] = [], lookup: @escaping Lookup) {
    self.lookup = lookup
    for change in changes {
      guard let key = (change.after ?? change.before)?.key else { continue }
      if let first = changed[change.model]?[key] {
        changed[change.model]?[key] = RowChange(model: change.model, before: first.before, after: change.after)
      } else {
        changed[change.model, default: [:]][key] = change
        order[change.model, default: []].append(key)
      }
    }
  }

  /// Whether the commit changed records of the model.
  func hasChanges(model: Int) -> Bool { changed[model] != nil }

  // MARK: Rows

  /// The rows of a model that have `values` in `fields`. Null relates to nothing.
  func rows(_ model: Int, _ fields: [Int], _ values: [JSONValue], _ state: State) throws -> [LiveRow] {
    if values.contains(where: { $0.isNull }) { return [] }
    var rows = try lookup(model, fields, values)
    rowsRead += rows.count
    guard state == .before, let changes = changed[model] else { return rows }
    rows.removeAll { changes[$0.key] != nil }
    let before = earlierImages(FieldSet(model: model, fields: fields))[values] ?? []
    rowsRead += before.count
    return rows + before
  }

  private func earlierImages(_ set: FieldSet) -> [[JSONValue]: [LiveRow]] {
    if let known = earlier[set] { return known }
    var images: [[JSONValue]: [LiveRow]] = [:]
    for key in order[set.model] ?? [] {
      guard let row = changed[set.model]?[key]?.before else { continue }
      images[set.fields.map { row.record[$0] }, default: []].append(row)
    }
    earlier[set] = images
    return images
  }

  // MARK: Values

  /// A record's values with those of its terms after them.
  package func extended(_ record: Record, _ terms: RelatedTerms, _ state: State) throws -> Record {
    if terms.isEmpty { return record }
    var values = Array(record.values.prefix(terms.fields))
    for term in terms.all { values.append(try value(term, record, state)) }
    return Record(values: values)
  }

  /// The values that rows of a query show.
  package func shown(_ record: Record, _ terms: RelatedTerms, _ state: State) throws -> Record {
    if terms.shown.isEmpty { return record }
    return try extended(record, RelatedTerms(fields: terms.fields, shown: terms.shown), state)
  }

  /// Whether a record fulfils a condition over its own values and those of its terms.
  package func matches(
    _ predicate: Predicate, _ record: Record, _ terms: RelatedTerms, _ state: State
  ) throws -> Bool {
    predicate.matches(try extended(record, terms, state))
  }

  private func value(_ term: RelatedTerm, _ record: Record, _ state: State) throws -> JSONValue {
    let rows = try rows(term.model, term.otherFields, term.ownFields.map { record[$0] }, state)
    switch term.content {
    case .exists(let predicate):
      for row in rows where try matches(predicate, row.record, term.related, state) { return .bool(true) }
      return .bool(false)
    case .record:
      guard let row = rows.min(by: Self.precedes) else { return .null }
      return .array(try shown(row.record, term.related, state).values)
    case .records:
      return .array(
        try rows.sorted(by: Self.precedes).map { .array(try shown($0.record, term.related, state).values) })
    }
  }

  private static func precedes(_ left: LiveRow, _ right: LiveRow) -> Bool {
    for place in 0..<min(left.key.count, right.key.count) {
      let result = RowOrder.compare(left.key[place], right.key[place])
      if result != 0 { return result < 0 }
    }
    return false
  }

  // MARK: Effects

  /// What the commit did to the result of a query over relations, in the order of the changes.
  package func effects(model: Int, _ predicate: Predicate, _ terms: RelatedTerms) throws -> [ChangeEffect] {
    guard hasChanges(model: model) || terms.models.contains(where: hasChanges) else { return [] }
    var effects: [ChangeEffect] = []
    for images in try affected(model: model, terms) {
      let before = try result(images.before, predicate, terms, .before)
      let after = try result(images.after, predicate, terms, .after)
      if before == after { continue }
      if let effect = ChangeEffect(before, after) { effects.append(effect) }
    }
    return effects
  }

  /// The row as the query shows it; nil when the query does not select it.
  private func result(
    _ row: LiveRow?, _ predicate: Predicate, _ terms: RelatedTerms, _ state: State
  ) throws -> LiveRow? {
    guard let row else { return nil }
    let whole = try extended(row.record, terms, state)
    guard predicate.matches(whole) else { return nil }
    return row.with(Record(values: Array(whole.values.prefix(terms.fields + terms.shown.count))))
  }

  /// The records of a model that the commit changed, or whose terms it may have changed.
  private func affected(model: Int, _ terms: RelatedTerms) throws -> [Images] {
    var found: [Images] = []
    var keys: Set<RecordKey> = []
    for key in order[model] ?? [] {
      guard let change = changed[model]?[key] else { continue }
      keys.insert(key)
      found.append(Images(before: change.before, after: change.after))
    }
    for term in terms.all where term.models.contains(where: hasChanges) {
      for images in try affected(model: term.model, term.related) {
        for values in try selectors(term, images) {
          // A record that the commit did not change is the same in both states; the others have been found above.
          for row in try rows(model, term.ownFields, values, .after) where keys.insert(row.key).inserted {
            found.append(Images(before: row, after: row))
          }
        }
      }
    }
    return found
  }

  /// The values by which records can find a related record before or after a change that matters to the term.
  private func selectors(_ term: RelatedTerm, _ images: Images) throws -> [[JSONValue]] {
    let before = try selector(term, images.before, .before)
    let after = try selector(term, images.after, .after)
    if let before, let after, before == after { return [] }
    var values: [[JSONValue]] = []
    for selector in [before, after] {
      if let selector, !values.contains(selector.values) { values.append(selector.values) }
    }
    return values
  }

  /// How a related record counts for a term: by which values it is found, and what it contributes.
  private struct Selector: Equatable {
    var values: [JSONValue]
    var contribution: Record?
  }

  private func selector(_ term: RelatedTerm, _ row: LiveRow?, _ state: State) throws -> Selector? {
    guard let row else { return nil }
    let values = term.otherFields.map { row.record[$0] }
    if values.contains(where: { $0.isNull }) { return nil }
    switch term.content {
    case .exists(let predicate):
      return try matches(predicate, row.record, term.related, state) ? Selector(values: values) : nil
    case .record, .records:
      return Selector(values: values, contribution: try shown(row.record, term.related, state))
    }
  }
}
