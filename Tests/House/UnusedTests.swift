import Foundation
import Testing

/// Declarations that nothing uses are dead: they are read, kept and translated for nothing.
///
/// The look is textual. A name has to be used where its declaration can be seen: a private one in its file, others in
/// their module, package ones anywhere; what tests name is used. A property has to be read, a case has to be made.
@Suite struct UnusedTests {
  /// Names that are used from outside of Sources, each with its user.
  static let used: [String: String] = [
    "MartletMain": "the entry point of the command", "LabMain": "the entry point of the tool for measurements",
    "GenerateTool": "the entry point of the plugin's tool",
    "files": "SQLite's connection keeps the disk in memory that its file is on",
  ]

  /// Requirements of the language's and the system's protocols, which only they call.
  static let required: Set<String> = [
    "callAsFunction", "checkIsolated", "isIsolatingCurrentContext", "enqueue", "userInfo", "codingPath", "currentIndex",
    "allKeys", "isAtEnd", "decodeNil", "encodeNil", "container", "unkeyedContainer", "singleValueContainer",
    "nestedContainer", "nestedUnkeyedContainer", "superDecoder", "superEncoder", "encode", "decode", "hash", "next",
    "makeAsyncIterator", "makeIterator", "appendLiteral", "appendInterpolation", "errorDescription", "debugDescription",
  ]

  @Test func `every name that is declared in Sources is used there or by a test`() {
    let sources = Repository.current.files(under: "Sources", extensions: ["swift"])
    var others: Set<String> = []
    for folder in ["Tests", "Examples", "Fuzz", "Plugins", "Benchmarks"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"]) {
        others.formUnion(SwiftTokens(file.text).places.compactMap(\.token.word))
      }
    }
    for file in Repository.current.files(under: "Sources", extensions: ["c", "h"]) {
      others.formUnion(SwiftTokens(file.text).places.compactMap(\.token.word))
    }
    for unused in Self.unused(in: sources, besides: others) where Self.used[unused.name] == nil {
      Issue.record("\(unused.place) declares \(unused.name), which nothing uses: remove it")
    }
  }

  @Test func `a function, a type, a property and a case that nothing uses are found, whatever their access`() {
    let one = Repository.File(
      path: "Sources/M/A.swift",
      text: """
        package struct Used {
          // alone
          let alone = 1
          private var stored: Int
          private var read: Int
          public func shown() {}
          func `import`() {}
          private func close() {}
          package func far() { read += 1 }
          init(stored: Int, text: Kind) {
            self.stored = stored
            read = 2
            if case .matched = text {}
            print("alone close \\(read)")
          }
        }
        enum Kind {
          case made, matched
          case forgotten(Int)
        }
        private struct Nothing {}
        """)
    let two = Repository.File(
      path: "Sources/M/B.swift",
      text: """
        private let it = Used(stored: 1, text: .made)
        func close() { it.other() }
        func print(_ text: Used) { close() }
        extension Used { func other() {} }
        """)
    let other = Repository.File(path: "Sources/N/C.swift", text: "let import = far() // stored\n")
    #expect(
      Set(Self.unused(in: [one, two, other], besides: []).map(\.name)) == [
        "alone", "stored", "import", "close", "matched", "forgotten", "Nothing",
      ])
  }

  @Test func `what a protocol requires, a key path names or a shorthand unwraps is used`() {
    let one = Repository.File(
      path: "Sources/M/A.swift",
      text: """
        package protocol Door {
          func opened()
          var width: Int { get }
        }
        """)
    let two = Repository.File(
      path: "Sources/N/B.swift",
      text: """
        struct House: Door {
          let rooms: Int?
          let width: Int
          let names: [String]
          func opened() {
            if let rooms { use(rooms) }
            use([self].map(\\.names))
          }
        }
        func use(_ any: Any) { use(House.self) }
        """)
    let three = Repository.File(
      path: "Sources/O/C.swift", text: "extension Int { func on(_ it: any Door) { it.opened(); on(it.width) } }\n")
    #expect(Self.unused(in: [one, two, three], besides: []).map(\.name) == [])
  }

  struct Unused {
    let name: String
    let place: String
  }

  /// Declarations that nothing can use but what is public. `others` are names that are used elsewhere.
  static func unused(in files: [Repository.File], besides others: Set<String>) -> [Unused] {
    let names = files.map { (file: $0, names: DeclaredNames.of($0)) }
    var everywhere = Uses()
    var modules: [Substring: Uses] = [:]
    var requirements = required
    for (file, names) in names {
      everywhere.add(names)
      modules[module(of: file), default: Uses()].add(names)
      requirements.formUnion(names.requirements)
    }
    var found: [Unused] = []
    for (file, names) in names {
      var own = Uses()
      own.add(names)
      for declaration in names.declarations {
        // What a protocol of another module requires may be called there.
        let isRequired = requirements.contains(declaration.name)
        let uses: Uses
        switch declaration.access {
        case .elsewhere: continue
        case .file: uses = isRequired ? everywhere : own
        case .module: uses = isRequired ? everywhere : modules[module(of: file)] ?? own
        case .package: uses = everywhere
        }
        if uses.use(declaration) { continue }
        if declaration.access != .file || isRequired, others.contains(declaration.name) { continue }
        if required.contains(declaration.name) { continue }
        found.append(Unused(name: declaration.name, place: "\(file.path):\(declaration.line)"))
      }
    }
    return found
  }

  private static func module(of file: Repository.File) -> Substring {
    file.path.split(separator: "/").dropFirst().first ?? ""
  }

  /// The uses of names in some files.
  private struct Uses {
    private var read: Set<String> = []
    private var written: Set<String> = []
    private var made: Set<String> = []

    mutating func add(_ names: DeclaredNames) {
      read.formUnion(names.read)
      written.formUnion(names.written)
      made.formUnion(names.made)
    }

    func use(_ declaration: DeclaredNames.Declaration) -> Bool {
      if declaration.kind == "case", !declaration.isRaw { return made.contains(declaration.name) }
      return read.contains(declaration.name) || (declaration.hasAccessors && written.contains(declaration.name))
    }
  }
}
