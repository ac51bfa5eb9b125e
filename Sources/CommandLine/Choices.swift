internal import MartletGraphQLLanguage

/// Words of which one is meant.
package enum Choices {
  /// The word of `known` that a person may have meant by `word`.
  package static func nearest(_ word: String, among known: [String]) -> String? {
    // An abbreviation is far away in letters, and another word may be nearer.
    let longer = known.filter { word.utf8.count > 2 && $0.hasPrefix(word) }
    return longer.count == 1 ? longer[0] : Suggestions.near(word, among: known).first
  }

  /// `--protocol must be one of a, b, not 'c'. Did you mean b?`
  package static func unknown(_ word: String, among known: [String], is what: String) -> String {
    let list = known.count == 1 ? "must be \(known[0])" : "must be one of \(known.joined(separator: ", "))"
    let text = "\(what) \(list), not '\(word)'."
    return text + (nearest(word, among: known).map { " Did you mean \($0)?" } ?? "")
  }
}
