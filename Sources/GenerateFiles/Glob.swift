/// A pattern for paths: `*` is anything within a component, `?` one character, `**` any number of components.
struct Glob {
  private let components: [Substring]

  init(_ pattern: String) {
    components = pattern.split(separator: "/").filter { $0 != "." }
  }

  /// Whether a path, relative like the pattern, fits.
  func matches(_ path: String) -> Bool {
    Self.match(components[...], path.split(separator: "/")[...])
  }

  private static func match(_ pattern: ArraySlice<Substring>, _ path: ArraySlice<Substring>) -> Bool {
    guard let first = pattern.first else { return path.isEmpty }
    if first == "**" {
      let rest = pattern.dropFirst()
      return (path.startIndex...path.endIndex).contains { match(rest, path[$0...]) }
    }
    guard let component = path.first, match(Array(first.utf8)[...], Array(component.utf8)[...]) else { return false }
    return match(pattern.dropFirst(), path.dropFirst())
  }

  /// One component. Goes back to the last `*` only, so that no pattern takes longer than its length times the name's.
  private static func match(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    var (p, n) = (pattern.startIndex, name.startIndex)
    var star: (pattern: Int, name: Int)?
    while n < name.endIndex {
      if p < pattern.endIndex, pattern[p] == UInt8(ascii: "*") {
        star = (p, n)
        p += 1
      } else if p < pattern.endIndex, pattern[p] == UInt8(ascii: "?") || pattern[p] == name[n] {
        p += 1
        n += 1
      } else if let last = star {
        star = (last.pattern, last.name + 1)
        p = last.pattern + 1
        n = last.name + 1
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
