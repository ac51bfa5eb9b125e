import Foundation
import Testing

/// Compiles the blocks in their programs and runs them, all in one go: a few at a time, in a folder that is gone
/// afterwards.
struct Workshop: Sendable {
  /// What became of a run.
  enum Outcome: Sendable {
    case printed([String])
    case failed(String)
  }

  static let swiftc = ToolRun.find("swiftc")
  static let skipped: Comment =
    SeedFolder.isPresent ? "there is no swiftc here, or frameworks that the stand-ins stand for" : SeedFolder.skipped
  static let isPossible: Bool = {
    #if os(Linux)
      return SeedFolder.isPresent && swiftc != nil
    #else
      // The stand-ins have the names of frameworks that are there.
      return false
    #endif
  }()

  /// The outcomes of all runs; made once.
  static let outcomes = Task { try await Workshop().run(SeedRuns.all) }

  static let scratch = SeedFolder.root.appendingPathComponent("Tests/Seeds/Scratch")

  let folder: URL
  let products: Products
  let swiftc: String
  let blocks: [SeedBlock]
  let patched: [BlockName: Result<PatchedBlock, any Error>]

  init() throws {
    guard let products = Products.current else { throw WorkshopError(description: "the build's products are missing") }
    guard let swiftc = Self.swiftc else { throw WorkshopError(description: "there is no swiftc") }
    self.products = products
    self.swiftc = swiftc
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("seeds-\(UUID().uuidString)")
    blocks = SeedFolder.blocks
    let renames = try RenameTable.current()
    var patched: [BlockName: Result<PatchedBlock, any Error>] = [:]
    for block in blocks {
      patched[block.name] = Result { try PatchedBlock(block, renames: renames, edits: SeedEdits.all) }
    }
    self.patched = patched
  }

  func run(_ runs: [SeedRun]) async throws -> [String: Outcome] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      if ProcessInfo.processInfo.environment["MARTLET_KEEP_SCRATCH"] == nil {
        try? FileManager.default.removeItem(at: folder)
      }
    }
    try await prepare()
    let outcomes = await inParallel(runs) { run in
      do {
        return Outcome.printed(try await outcome(of: run))
      } catch {
        return .failed("\(error)")
      }
    }
    return Dictionary(uniqueKeysWithValues: zip(runs.map(\.program), outcomes))
  }

  // MARK: What all programs need

  /// One library of the package's objects, and the modules that stand in for frameworks.
  private func prepare() async throws {
    let list = folder.appendingPathComponent("objects")
    try products.objects().map { "\"\($0)\"" }.joined(separator: "\n").write(
      to: list, atomically: true, encoding: .utf8)
    let library = [
      "-emit-library", "-module-name", "SeedProducts", "-o", "libSeedProducts.so", "@objects", "-Xlinker",
      "--strip-debug",
    ]
    let standIns = ["SeedSupport", "UIKit", "SwiftUI"].map { name in
      products.compilerOptions + [
        "-parse-as-library", "-module-name", name,
        "-emit-module",
        "-emit-object", "-o", "\(name).o", Self.scratch.appendingPathComponent("StandIns/\(name).swift").path,
      ]
    }
    let failures = await inParallel([library] + standIns) { arguments in
      do {
        let tool = try await ToolRun(swiftc, arguments, in: folder)
        return tool.status == 0 ? nil : tool.errors + tool.output
      } catch {
        return "\(error)"
      }
    }
    for case let failure? in failures { throw WorkshopError(description: failure) }
  }

  // MARK: One program

  private func outcome(of run: SeedRun) async throws -> [String] {
    let home = folder.appendingPathComponent(run.program)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let template = Self.scratch.appendingPathComponent("Programs/\(run.program).swift")
    let text = try String(contentsOf: template, encoding: .utf8)
    let places = text.split(separator: "\n").compactMap { Assembly.place($0) }
    var blocks: [BlockName: PatchedBlock] = [:]
    for place in places { blocks[place] = try patched[place]?.get() }
    let program = try Assembly(program: text, name: run.program, blocks: blocks)
    try program.text.write(to: home.appendingPathComponent("main.swift"), atomically: true, encoding: .utf8)
    for subject in run.subjects where !program.blocks.contains(subject) && !isOperation(subject, of: run) {
      throw WorkshopError(description: "\(run.program) is to run \(subject), which is not in it")
    }
    let sources = ["main.swift"] + (try await generate(run, in: home))
    let compiled = try await ToolRun(
      swiftc,
      products.compilerOptions + ["-I", folder.path, "-module-name", "Program", "-o", "program"] + sources
        + ["SeedSupport", "UIKit", "SwiftUI"].map { "\(folder.path)/\($0).o" }
        + ["-L", folder.path, "-lSeedProducts", "-Xlinker", "-rpath", "-Xlinker", folder.path], in: home)
    guard compiled.status == 0 else { throw WorkshopError(description: compiled.errors + compiled.output) }
    return try await execute(run, in: home)
  }

  private func isOperation(_ block: BlockName, of run: SeedRun) -> Bool {
    if case .block(block) = run.operations { true } else { false }
  }

  /// The operations' types, by `martlet generate`.
  private func generate(_ run: SeedRun, in home: URL) async throws -> [String] {
    let tour = SeedFolder.root.appendingPathComponent("Examples/SeedTour")
    let operations = home.appendingPathComponent("Operations")
    switch run.operations {
    case .none: return []
    case .tour, .block:
      try FileManager.default.copyItem(at: tour.appendingPathComponent("Operations"), to: operations)
    }
    if case .block(let name) = run.operations {
      guard let block = blocks.first(where: { $0.name == name }), block.language == .graphql else {
        throw WorkshopError(description: "\(name) is no GraphQL")
      }
      let file = operations.appendingPathComponent("ReviewAdded.graphql")
      try block.lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }
    let tool = try await ToolRun(
      products.command,
      [
        "generate", "--schema", tour.appendingPathComponent("schema.graphql").path, "--operations",
        "Operations/*.graphql", "--output", "Operations.swift",
      ], in: home)
    guard tool.status == 0 else { throw WorkshopError(description: tool.errors) }
    return ["Operations.swift"]
  }

  private func execute(_ run: SeedRun, in home: URL) async throws -> [String] {
    var environment: [String: String] = [:]
    var server: ServeProcess?
    if run.server != .none {
      var key: String?
      if case .keyed(let block, let constant) = run.server { key = try constantText(constant, of: block) }
      var schema = SeedFolder.root.appendingPathComponent("Examples/SeedTour/schema.graphql")
      if run.server == .versionedPosts {
        schema = home.appendingPathComponent("posts.graphql")
        try "type Post @model @versioned { id: ID! title: String! rating: Float! }\n"
          .write(to: schema, atomically: true, encoding: .utf8)
      }
      let started = try await ServeProcess(products.command, schema: schema, key: key, in: home)
      environment["MARTLET_SEED_URL"] = started.url
      environment["MARTLET_SEED_KEY"] = key
      server = started
    }
    defer { server?.stop() }
    let ran = try await ToolRun("./program", [], in: home, environment: environment, seconds: 30)
    guard ran.status == 0 else {
      let printed = ran.lines.joined(separator: "\n")
      throw WorkshopError(description: "ended with \(ran.status) after\n\(printed)\n\(ran.errors.suffix(2_000))")
    }
    return ran.lines
  }

  /// The text of `let NAME = "…"` in a block.
  private func constantText(_ name: String, of block: BlockName) throws -> String {
    for line in blocks.first(where: { $0.name == block })?.lines ?? [] where line.hasPrefix("let \(name) = ") {
      for case .string(let literal) in SwiftText.pieces(line) { return String(literal.dropFirst().dropLast()) }
    }
    throw WorkshopError(description: "\(block) has no \(name)")
  }
}
