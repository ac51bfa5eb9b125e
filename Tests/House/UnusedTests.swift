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
    "GenerateTool": "the entry point of the plugin's tool", "SimulationTool": "the entry point of the simulation",
    "files": "SQLite's connection keeps the disk in memory that its file is on",
  ]

  /// Requirements of the language's and the system's protocols, which only they call.
  static let required: Set<String> = [
    "callAsFunction", "checkIsolated", "isIsolatingCurrentContext", "enqueue", "userInfo", "codingPath", "currentIndex",
    "allKeys", "isAtEnd", "decodeNil", "encodeNil", "container", "unkeyedContainer", "singleValueContainer",
    "nestedContainer", "nestedUnkeyedContainer", "superDecoder", "superEncoder", "encode", "decode", "hash", "next",
    "makeAsyncIterator", "makeIterator", "appendLiteral", "appendInterpolation", "errorDescription", "debugDescription",
  ]

  /// Private declarations that code which the compiler writes uses.
  static let synthesized: Set<String> = ["CodingKeys"]

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

  @Test func `a private function is found though others have its name, and a property though it is written`() {
    let one = Repository.File(
      path: "Sources/M/Feed.swift",
      text: """
        final class Feed {
          private var noted = [1].map { $0 + 1 }
          private var first = 0
          private var second = 0
          private(set) lazy var made = { 1 }()
          private var counted: Int { didSet { shown() } }
          private var kind: Kind = .a
          init(_ kinds: [Kind]) {
            (first, self.second) = (1, 2)
            counted = 3
            if kinds.isEmpty { kind = .a }
            for match in kinds {
              switch match {
              case .a: noted = []
              }
              print(match.count)
            }
            each { value in made = value }
          }
          private func receive(_ batch: Int) { receive(batch - 1) }
          private func match() {}
          private func find() {
            if true { find() }
          }
          private func shown() {}
          private func each(_ body: (Int) -> Void) { body(1) }
          private struct Closed { func stay() {} }
        }
        enum Kind { case a }
        """)
    let two = Repository.File(
      path: "Sources/N/B.swift",
      text: """
        protocol Receiver { func receive(_ batch: Int); func match(); func find() }
        func use(_ it: any Receiver) { it.receive(1); it.match(); it.find(); use(it); _ = Feed([.a]) }
        """)
    #expect(
      Set(Self.unused(in: [one, two], besides: ["use", "Feed"]).map(\.name)) == [
        "noted", "first", "second", "made", "kind", "receive", "match", "find", "Closed", "stay",
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
    #expect(Self.unused(in: [one, two, three], besides: ["on"]).map(\.name) == [])
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
        // What a protocol of another module requires may be called there, but nothing private meets a requirement.
        let isRequired = declaration.access != .file && requirements.contains(declaration.name)
        let uses: Uses
        switch declaration.access {
        case .elsewhere: continue
        case .file: uses = own
        case .module: uses = isRequired ? everywhere : modules[module(of: file)] ?? own
        case .package: uses = everywhere
        }
        if uses.use(declaration) { continue }
        if declaration.access == .file {
          if Self.synthesized.contains(declaration.name) { continue }
        } else if others.contains(declaration.name) || required.contains(declaration.name) {
          continue
        }
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
    private var called: Set<String> = []
    private var written: Set<String> = []
    private var made: Set<String> = []

    mutating func add(_ names: DeclaredNames) {
      read.formUnion(names.read)
      called.formUnion(names.called)
      written.formUnion(names.written)
      made.formUnion(names.made)
    }

    func use(_ declaration: DeclaredNames.Declaration) -> Bool {
      if declaration.kind == "case", !declaration.isRaw { return made.contains(declaration.name) }
      if declaration.kind == "func" { return called.contains(declaration.name) }
      return read.contains(declaration.name) || (declaration.hasAccessors && written.contains(declaration.name))
    }
  }
}
