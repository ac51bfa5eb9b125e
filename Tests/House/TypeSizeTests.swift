import Testing

/// A type with all its extensions has a size: splitting it over files leaves it as large as it was. Types nested in it
/// count by themselves.
@Suite struct TypeSizeTests {
  /// Lines a type may have with its extensions. Beyond it a second idea has moved in.
  static let largest = 400

  /// Types that were larger when the rule was made, with their lines then. A number may fall and never rise; an entry
  /// goes when its type fits.
  static let known: [String: Int] = [:]

  @Test func `no type grows past 400 lines with its extensions`() {
    let files = Repository.current.files(under: "Sources", extensions: ["swift"]).filter { !Self.isGenerated($0) }
    let sizes = Self.sizes(of: files)
    for (type, lines) in sizes.sorted(by: { $0.key < $1.key }) {
      let allowed = Self.known[type] ?? Self.largest
      #expect(lines <= allowed, "\(type) has \(lines) lines with its extensions, \(allowed) are allowed: split it")
    }
    for (type, allowed) in Self.known {
      #expect((sizes[type] ?? 0) > Self.largest, "\(type) fits now: take its entry (\(allowed)) out of `known`")
    }
  }

  @Test func `a type's lines are counted over its declaration and its extensions`() {
    let one = Repository.File(path: "Sources/M/A.swift", text: "package struct A {\n  let x = 1\n}\n\nextension B {}\n")
    let two = Repository.File(path: "Sources/M/A+b.swift", text: "extension A: Equatable {\n  func b() {\n  }\n}\n")
    #expect(Self.sizes(of: [one, two]) == ["M.A": 7, "M.B": 1])
    let nested = "extension A {\n  struct C {\n    let x = 1\n  }\n  let y = 2\n}\n"
    #expect(
      Self.sizes(of: [Repository.File(path: "Sources/M/A+c.swift", text: nested)]) == ["M.A": 3, "M.A.C": 3])
  }

  @Test func `only a file that its generator names in its head is generated`() {
    let head = "// swift-format-ignore-file\n// Written by Scripts/embed-console from Assets/a.js.\n"
    #expect(Self.isGenerated(Repository.File(path: "Sources/M/A.swift", text: head + "extension A {}\n")))
    let said = "/// Written by Scripts/embed-console.\nextension A {\n  // Written by Scripts/embed-console\n}\n"
    #expect(!Self.isGenerated(Repository.File(path: "Sources/M/A.swift", text: said)))
    let none = "// Written by Scripts/by-hand.\nextension A {}\n"
    #expect(!Self.isGenerated(Repository.File(path: "Sources/M/A.swift", text: none)))
  }

  /// Whether a file says in its head which script of the project writes it, and there is that script: generated data
  /// has no size that a reader minds.
  static func isGenerated(_ file: Repository.File) -> Bool {
    let mark = "// Written by "
    let head = file.lines.prefix { $0.hasPrefix("// ") }
    guard let line = head.first(where: { $0.hasPrefix(mark) }) else { return false }
    let script = line.dropFirst(mark.count).prefix { $0 != " " && $0 != "." }
    return script.hasPrefix("Scripts/") && Repository.current.exists(String(script))
  }

  /// Lines by module and type, from declarations at the left margin, and one level below, up to the brace that closes
  /// them there.
  static func sizes(of files: [Repository.File]) -> [String: Int] {
    var sizes: [String: Int] = [:]
    for file in files {
      let module = file.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      var open: String?
      var inner: String?
      for line in file.lines {
        if let type = open {
          if let nested = inner ?? nested(in: line).map({ "\(type).\($0)" }) {
            sizes[nested, default: 0] += 1
            let isOneLine = inner == nil && line.hasSuffix("}")
            inner = line.hasPrefix("  }") || isOneLine ? nil : nested
            continue
          }
          sizes[type, default: 0] += 1
          if line.hasPrefix("}") { open = nil }
        } else if let name = declared(in: line) {
          let type = "\(module).\(name)"
          sizes[type, default: 0] += 1
          if !line.hasSuffix("}") { open = type }
        }
      }
    }
    return sizes
  }

  /// The type that a line one level below the margin declares.
  private static func nested(in line: Substring) -> String? {
    guard line.hasPrefix("  "), line.dropFirst(2).first != " " else { return nil }
    return declared(in: line.dropFirst(2))
  }

  /// The type that a line at the left margin declares or extends.
  private static func declared(in line: Substring) -> String? {
    guard let first = line.first, first.isLetter || first == "@" else { return nil }
    let words = line.split(separator: " ")
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "extension"]
    guard line.contains("{"), let at = words.firstIndex(where: { kinds.contains($0) }), at + 1 < words.count else {
      return nil
    }
    let name = words[at + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    return name.isEmpty ? nil : String(name)
  }
}
