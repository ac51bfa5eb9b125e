/// Guesses at what a misspelt name was meant to be.
package enum Suggestions {
  /// Longer names are not compared, to bound the work an error can cause.
  static let longestName = 64
  /// More options than this are not looked through.
  package static let mostOptions = 1000

  /// The options near to `name`, nearest first.
  package static func near(_ name: String, among options: [String]) -> [String] {
    guard name.utf8.count <= longestName, options.count <= mostOptions else { return [] }
    let threshold = name.utf8.count * 2 / 5 + 1
    return options.compactMap { option -> (distance: Int, option: String)? in
      guard abs(option.utf8.count - name.utf8.count) <= threshold else { return nil }
      let distance = distance(name, option)
      return distance <= threshold ? (distance, option) : nil
    }
    .sorted { ($0.distance, $0.option) < ($1.distance, $1.option) }
    .map(\.option)
  }

  /// ` Did you mean 'a', 'b', or 'c'?`, or nothing when there are no options.
  package static func text(_ options: [String], _ subject: String = "") -> String {
    let shown = options.prefix(5).map { "'\($0)'" }
    let list: String
    switch shown.count {
    case 0: return ""
    case 1: list = shown[0]
    case 2: list = "\(shown[0]) or \(shown[1])"
    default: list = shown.dropLast().joined(separator: ", ") + ", or \(shown[shown.count - 1])"
    }
    return " Did you mean \(subject)\(list)?"
  }

  /// How many insertions, deletions, replacements and swaps of neighbours turn one name into the other; 1 when they
  /// differ only in case.
  private static func distance(_ left: String, _ right: String) -> Int {
    if left == right { return 0 }
    let left = Array(left.lowercased().utf8)
    let right = Array(right.lowercased().utf8)
    if left == right { return 1 }
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in 1..<(left.count + 1) {
      var current = [row]
      for column in 1..<(right.count + 1) {
        let cost = left[row - 1] == right[column - 1] ? 0 : 1
        var best = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + cost)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          best = min(best, beforePrevious[column - 2] + 1)
        }
        current.append(best)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }
}
