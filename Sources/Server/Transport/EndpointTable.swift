internal import MartletWire

/// The endpoints that one server serves over HTTP.
struct EndpointTable {
  private let rows: [Endpoint]

  /// - Parameter rows: the first row whose path matches serves a request.
  init(_ rows: [Endpoint]) {
    self.rows = rows
  }

  /// The row for a path, and what stands for the braces of its pattern.
  func endpoint(for path: String) -> (row: Endpoint, match: String)? {
    for row in rows {
      if let match = row.path.match(path) { return (row, match) }
    }
    return nil
  }

  /// The paths that are served, for the answer to a request for another one.
  var paths: String { list.joined(separator: ", ") }

  /// The paths that are served, in the order in which they are tried.
  var list: [String] { rows.map(\.path.description) }

  /// The paths for people, with what each is for.
  var meanings: [(path: String, meaning: String)] {
    rows.compactMap { row in row.meaning.map { (row.path.description, $0) } }
  }

  /// The methods of all rows, for `OPTIONS *`.
  var methods: [String] {
    var all: [String] = []
    for row in rows where row.sharing == .configured {
      all += row.methods.filter { method in !all.contains(method) }
    }
    return all
  }
}
