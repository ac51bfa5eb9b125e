/// A program around one or more blocks, and what it prints.
struct SeedRun: Sendable, CustomStringConvertible {
  /// Who answers the program.
  enum Server: Sendable, Equatable {
    /// `martlet serve` with the schema of Examples/SeedTour.
    case models
    /// `martlet serve` with posts that stores are synced with.
    case versionedPosts
    /// The same, for holders of a key: the text that a block gives this name.
    case keyed(BlockName, constant: String)
    /// The program has a server of its own.
    case none
  }

  /// Where the operations' types come from.
  enum Operations: Sendable {
    case none
    /// The operations of Examples/SeedTour.
    case tour
    /// The same with the operation a seed has in place of the tour's.
    case block(BlockName)
  }

  /// The program's file in Scratch/Programs. A line `//= 000-1` in it is where a block goes.
  let program: String
  /// The blocks whose run this is. The program may have others besides, which have runs of their own.
  let subjects: [BlockName]
  let server: Server
  let operations: Operations
  /// What it prints, line by line; texts of the blocks' own are taken from them.
  let expected: @Sendable (Printed) -> [String]
  /// Lines that it may print besides, once each, by which of two connections is served first.
  let besides: @Sendable (Printed) -> [String]

  init(
    _ program: String, of subjects: [String], server: Server = .models, operations: Operations = .none,
    besides: @escaping @Sendable (Printed) -> [String] = { _ in [] },
    prints expected: @escaping @Sendable (Printed) -> [String]
  ) {
    self.program = program
    self.subjects = subjects.compactMap { BlockName($0) }
    self.server = server
    self.operations = operations
    self.expected = expected
    self.besides = besides
  }

  var description: String { program }

  /// The printed lines without those that may be missing.
  func certain(_ lines: [String], _ printed: Printed) -> [String] {
    var certain = lines
    for line in besides(printed) {
      if let place = certain.firstIndex(of: line) { certain.remove(at: place) }
    }
    return certain
  }
}

/// The lines that blocks print, made of their own literals.
struct Printed: Sendable {
  private let blocks: [BlockName: [String]]

  init(_ blocks: [SeedBlock]) {
    self.blocks = Dictionary(blocks.map { ($0.name, $0.lines) }) { first, _ in first }
  }

  /// The text of a block's print, or another call with a literal, counted from 0, with a value in each gap.
  func callAsFunction(_ block: String, _ index: Int, _ values: String..., by call: String = "print") -> String {
    guard let name = BlockName(block), let lines = blocks[name] else { return "there is no block \(block)" }
    let literals = SwiftText.literals(of: call, in: lines)
    guard literals.indices.contains(index) else { return "\(block) has no \(call) \(index)" }
    let parts = literals[index]
    guard parts.count == values.count + 1 else { return "\(call) \(index) of \(block) has \(parts.count - 1) gaps" }
    return parts[0] + zip(values, parts.dropFirst()).map { $0 + $1 }.joined()
  }
}
