/// The lines of a source file with the platforms on which they are compiled.
struct PlatformLines {
  struct Line {
    var number: Int
    /// Without comments.
    var code: String
    var onLinux: Bool
    var onDarwin: Bool
  }

  /// A system, as conditions ask for it.
  private enum System {
    case linux, darwin

    /// Of Linux's modules only those are there; Darwin has every other one. What every system has stands in neither.
    private static let linuxModules: Set<String> = ["Glibc", "FoundationNetworking"]
    private static let otherModules: Set<String> = ["Musl", "Android", "WASILibc", "WinSDK", "ucrt"]
    private static let everywhere: Set<String> = ["Foundation", "Dispatch", "Observation", "Synchronization"]
    private static let apple: Set<String> = ["macOS", "OSX", "iOS", "tvOS", "watchOS", "visionOS"]

    func fulfils(_ name: String, _ argument: String) -> Bool {
      switch name {
      case "canImport":
        if Self.everywhere.contains(argument) { return true }
        if Self.otherModules.contains(argument) { return false }
        return Self.linuxModules.contains(argument) == (self == .linux)
      case "os": return self == .linux ? argument == "Linux" : Self.apple.contains(argument)
      case "targetEnvironment": return self == .darwin
      case "swift", "compiler": return true
      default: return false
      }
    }
  }

  let lines: [Line]

  init(_ text: some Sequence<Substring>) {
    var lines: [Line] = []
    // Of each open condition, where its present branch is compiled, and where an earlier one was.
    var open: [(now: (linux: Bool, darwin: Bool), taken: (linux: Bool, darwin: Bool))] = []
    for (index, line) in text.enumerated() {
      let code = line.drop { $0 == " " }
      if code.hasPrefix("#if ") {
        let now = Self.systems(code.dropFirst(4))
        open.append((now, now))
      } else if code.hasPrefix("#elseif "), let last = open.popLast() {
        let condition = Self.systems(code.dropFirst(8))
        let now = (condition.linux && !last.taken.linux, condition.darwin && !last.taken.darwin)
        open.append((now, (last.taken.linux || now.0, last.taken.darwin || now.1)))
      } else if code.hasPrefix("#else"), let last = open.popLast() {
        open.append(((!last.taken.linux, !last.taken.darwin), (true, true)))
      } else if code.hasPrefix("#endif") {
        _ = open.popLast()
      } else {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        lines.append(
          Line(
            number: index + 1, code: String(code), onLinux: open.allSatisfy(\.now.linux),
            onDarwin: open.allSatisfy(\.now.darwin)))
      }
    }
    self.lines = lines
  }

  private static func systems(_ condition: Substring) -> (linux: Bool, darwin: Bool) {
    (evaluate(condition, .linux), evaluate(condition, .darwin))
  }

  /// `||` of `&&` of a call, with `!` before it or not; nothing here has parentheses.
  private static func evaluate(_ condition: Substring, _ system: System) -> Bool {
    condition.split(separator: "||").contains { part in
      part.split(separator: "&&").allSatisfy { term in
        let text = term.filter { $0 != " " }
        let isNot = text.hasPrefix("!")
        let call = text.drop { $0 == "!" }.split(separator: "(", maxSplits: 1)
        let argument = call.count == 2 ? String(call[1].prefix { $0 != ")" }) : ""
        return system.fulfils(call.first.map(String.init) ?? "", argument) != isNot
      }
    }
  }
}
