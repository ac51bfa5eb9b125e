/// Which files of a folder depend on which others, as far as their text shows it.
///
/// A file depends on another when it
/// - names a type that the other declares at its top level,
/// - uses a member that only the other declares, in extensions too, by a name that occurs in no other declaration of
///   the sources: what is reached through a property is not named,
/// - goes through a property whose type the other declares, where all properties of that name have that type,
/// - names a type and a protocol to which the other makes it conform.
///
/// A call of a protocol's requirement is a dependency on the protocol alone; that is what protocols are for. A file
/// `Type+aspect.swift` belongs to the file of its type, wherever it stands.
struct FileGraph {
  /// For each file those it depends on, with a name by which it does.
  private var edges: [String: [String: String]] = [:]
  private var sizes: [String: Int] = [:]

  /// - Parameters:
  ///   - files: The files whose dependencies are looked for.
  ///   - others: The other files of the sources.
  init(of files: [Repository.File], among others: [Repository.File]) {
    let read = files.map { (path: $0.path, names: DeclaredNames.of($0)) }
    let paths = Set(files.map(\.path))
    var homes: [String: String] = [:]
    for (path, names) in read where !path.contains("+") {
      for type in names.topLevelTypes { homes[type] = Self.stem(path) }
    }
    for (path, names) in read where path.contains("+") {
      for type in names.topLevelTypes where homes[type] == nil { homes[type] = Self.home(of: path, homes) }
    }
    var declared: [String: Set<String>] = [:]
    var types: [String: Set<String>] = [:]
    for (path, names) in read {
      let node = Self.home(of: path, homes)
      sizes[node, default: 0] += 1
      for declaration in names.declarations { declared[declaration.name, default: []].insert(node) }
      for (name, type) in names.propertyTypes { types[name, default: []].insert(type) }
    }
    for file in others where !paths.contains(file.path) {
      let names = DeclaredNames.of(file)
      for declaration in names.declarations { declared[declaration.name, default: []].insert("") }
      for (name, _) in names.propertyTypes { types[name, default: []].insert("") }
    }
    for (path, names) in read {
      let node = Self.home(of: path, homes)
      var reached: [String: String] = [:]
      let nested = Set(names.declarations.map(\.name)).subtracting(names.topLevelTypes)
      for word in names.read.union(names.written) where !nested.contains(word) {
        if let home = homes[word] { reached[home] = word }
      }
      for member in names.members {
        if let owners = declared[member], owners.count == 1, let owner = owners.first, owner != "" {
          reached[owner] = ".\(member)"
        }
        if names.passed.contains(member), let held = types[member], held.count == 1,
          let home = held.first.flatMap({ homes[$0] })
        {
          reached[home] = ".\(member)."
        }
      }
      for (other, declaring) in read {
        for (type, conformance) in declaring.conformances where names.read.contains(type) {
          if names.read.contains(conformance) { reached[Self.home(of: other, homes)] = "\(type): \(conformance)" }
        }
      }
      reached[node] = nil
      edges[node, default: [:]].merge(reached) { first, _ in first }
    }
  }

  private static func stem(_ path: String) -> String { String(path.dropLast(".swift".count)) }

  /// The node of a file: its path without its ending, or that of the type of which it is an aspect.
  private static func home(of path: String, _ homes: [String: String]) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let plus = name.firstIndex(of: "+") else { return stem(path) }
    return homes[String(name[..<plus])] ?? stem(path)
  }

  /// By which names the files of a group depend on each other.
  func reasons(in group: [String]) -> String {
    let members = Set(group)
    let lines = members.sorted().map { node in
      let others = (edges[node] ?? [:]).filter { members.contains($0.key) }.sorted { $0.key < $1.key }
      return "\(node): "
        + others.map { "\($0.key.split(separator: "/").last ?? "") by \($0.value)" }.joined(separator: ", ")
    }
    return lines.joined(separator: "\n")
  }

  /// The groups of files of which each reaches every other, larger than one node; each node as often as it has files.
  func circles() -> [[String]] {
    var reached: [String: Set<String>] = [:]
    for start in sizes.keys {
      var found: Set<String> = []
      var next = Array((edges[start] ?? [:]).keys)
      while let node = next.popLast() {
        if found.insert(node).inserted { next += (edges[node] ?? [:]).keys }
      }
      reached[start] = found
    }
    var groups: Set<[String]> = []
    for start in sizes.keys where reached[start]?.contains(start) == true {
      let group = (reached[start] ?? []).filter { reached[$0]?.contains(start) == true }
      groups.insert(group.sorted().flatMap { [String](repeating: $0, count: sizes[$0] ?? 1) })
    }
    return Array(groups)
  }
}
