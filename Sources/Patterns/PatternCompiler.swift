/// Turns the tree of a regular expression into instructions.
struct PatternCompiler {
  private(set) var program: [Pattern.Instruction] = []
  private let ignoresCase: Bool
  private let limit: Int

  init(ignoresCase: Bool, limit: Int) {
    self.ignoresCase = ignoresCase
    self.limit = limit
  }

  mutating func append(_ instruction: Pattern.Instruction) throws(PatternProblem) {
    guard program.count < limit else {
      throw PatternProblem(
        message: "the regular expression is larger than the limit patternInstructions (\(limit))", index: 0,
        isLimit: true)
    }
    program.append(instruction)
  }

  mutating func emit(_ tree: PatternTree) throws(PatternProblem) {
    switch tree {
    case .scalar(let value): try append(.scalar(ignoresCase ? ScalarSet.folded(value) : value))
    case .set(let set): try append(.set(set))
    case .start: try append(.start)
    case .end: try append(.end)
    case .boundary(let isExpected): try append(.boundary(isExpected))
    case .sequence(let parts): for part in parts { try emit(part) }
    case .alternatives(let branches): try emit(branches: branches)
    case .repeated(let part, let least, let most): try emit(part, least: least, most: most)
    }
  }

  private mutating func emit(branches: [PatternTree]) throws(PatternProblem) {
    var ends: [Int] = []
    for (index, branch) in branches.enumerated() {
      guard index < branches.count - 1 else {
        try emit(branch)
        break
      }
      let split = program.count
      try append(.jump(0))
      try emit(branch)
      ends.append(program.count)
      try append(.jump(0))
      program[split] = .split(split + 1, program.count)
    }
    for end in ends { program[end] = .jump(program.count) }
  }

  private mutating func emit(_ part: PatternTree, least: Int, most: Int?) throws(PatternProblem) {
    for _ in 0..<least {
      let before = program.count
      try emit(part)
      // What consumes nothing needs no repetition; a million copies of it would cost no instruction, but time.
      if program.count == before { break }
    }
    guard let most else {
      let split = program.count
      try append(.jump(0))
      try emit(part)
      try append(.jump(split))
      program[split] = .split(split + 1, program.count)
      return
    }
    var splits: [Int] = []
    for _ in least..<most {
      splits.append(program.count)
      try append(.jump(0))
      try emit(part)
    }
    for split in splits { program[split] = .split(split + 1, program.count) }
  }
}
