package import MartletModels

/// A value that a query takes from the records related to one record: those of another model that have the record's
/// values of some fields in fields of their own.
package struct RelatedTerm: Sendable, Hashable {
  /// What the value is.
  package indirect enum Content: Sendable, Hashable {
    /// Whether a related record fulfils the condition.
    case exists(Predicate)
    /// The values of the related record as a list, or null without one.
    case record
    /// The values of all related records in the order of their keys, a list for each.
    case records
  }

  /// The other model's number.
  package var model: Int
  /// Fields of the record whose values select…
  package var ownFields: [Int]
  /// …the records that have them in these fields.
  package var otherFields: [Int]
  package var content: Content
  /// What the condition or the loaded records need of the records related to them.
  package var related: RelatedTerms

  /// A term.
  package init(
    model: Int, ownFields: [Int], otherFields: [Int], content: Content, related: RelatedTerms = RelatedTerms()
  ) {
    self.model = model
    self.ownFields = ownFields
    self.otherFields = otherFields
    self.content = content
    self.related = related
  }

  /// The models whose changes can change the value.
  var models: Set<Int> { related.models.union([model]) }
}

/// The terms of a query. Their values stand after the record's own, so that a condition compares them as fields:
/// those that rows show first, then those that only conditions need.
package struct RelatedTerms: Sendable, Hashable {
  /// How many values a record has of its own.
  package var fields: Int
  /// Terms whose values are part of a row.
  package var shown: [RelatedTerm]
  /// Terms that only conditions need.
  package private(set) var conditions: [RelatedTerm] = []

  /// Terms of records with `fields` values.
  package init(fields: Int = 0, shown: [RelatedTerm] = []) {
    self.fields = fields
    self.shown = shown
  }

  /// Adds what a condition needs, once. Returns the position of its value.
  package mutating func add(_ term: RelatedTerm) -> Int {
    if let known = conditions.firstIndex(of: term) { return fields + shown.count + known }
    conditions.append(term)
    return fields + shown.count + conditions.count - 1
  }

  package var isEmpty: Bool { shown.isEmpty && conditions.isEmpty }

  /// Every term, in the order of the values.
  package var all: [RelatedTerm] { shown + conditions }

  /// The term whose value stands at a position.
  package func term(at position: Int) -> RelatedTerm? {
    let place = position - fields
    guard place >= 0, place < shown.count + conditions.count else { return nil }
    return place < shown.count ? shown[place] : conditions[place - shown.count]
  }

  /// The other models whose changes can change a value.
  package var models: Set<Int> { all.reduce(into: []) { $0.formUnion($1.models) } }
}
