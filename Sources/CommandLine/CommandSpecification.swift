/// What a subcommand accepts. Parsing, `--help` and shell completion are all read from this one description.
package struct CommandSpecification: Sendable {
  /// One option, written `--name VALUE` or `--name`.
  package struct Option: Sendable {
    package let name: String
    /// What the value is called in the help; nil for a switch.
    package let value: String?
    package let help: String
    /// Whether it may be given several times.
    package var repeats = false
    /// The values it can have; empty when anything can be given.
    package var choices: [Choice] = []

    package init(
      name: String, value: String?, help: String, repeats: Bool = false, choices: [Choice] = []
    ) {
      self.name = name
      self.value = value
      self.help = help
      self.repeats = repeats
      self.choices = choices
    }
  }

  /// A word that an option or an operand can be, with what it means: completion shows both.
  package struct Choice: Sendable, ExpressibleByStringLiteral {
    package let name: String
    /// One phrase, without a full stop; empty where the name says all.
    package let help: String
    /// The names of the operands that the subcommand takes with this word, where they are others.
    package let operands: [String]

    package init(_ name: String, _ help: String = "", operands: [String] = []) {
      self.name = name
      self.help = help
      self.operands = operands
    }

    package init(stringLiteral name: String) {
      self.init(name)
    }
  }

  /// One operand, in order.
  package struct Operand: Sendable {
    package let name: String
    package let help: String
    package var isOptional = false
    /// The words it can be; empty when anything can be given.
    package var choices: [Choice] = []
    /// Words that completion offers, where the command itself says what it takes.
    package var offers: [Choice] = []
    /// Words that completion offers, by the operand before this one.
    package var offersAfter: [(operand: String, words: [Choice])] = []

    package init(
      name: String, help: String, isOptional: Bool = false, choices: [Choice] = [], offers: [Choice] = [],
      offersAfter: [(operand: String, words: [Choice])] = []
    ) {
      self.name = name
      self.help = help
      self.isOptional = isOptional
      self.choices = choices
      self.offers = offers
      self.offersAfter = offersAfter
    }
  }

  /// The program whose subcommand it is.
  package let program: String

  package let name: String
  package let summary: String
  package var operands: [Operand] = []
  package var options: [Option] = []
  /// Whole command lines with what they do.
  package var examples: [(line: String, does: String)] = []
  /// A paragraph for the help, beyond the summary.
  package var discussion = ""

  package init(
    program: String = "martlet", name: String, summary: String, operands: [Operand] = [], options: [Option] = [],
    examples: [(line: String, does: String)] = [], discussion: String = ""
  ) {
    self.program = program
    self.name = name
    self.summary = summary
    self.operands = operands
    self.options = options
    self.examples = examples
    self.discussion = discussion
  }

  package static let help = Option(name: "help", value: nil, help: "show this help")

  package var helpText: String {
    var lines = ["USAGE: \(usage)", "", summary]
    if !discussion.isEmpty { lines += ["", discussion] }
    if !operands.isEmpty {
      lines += ["", "OPERANDS:"] + Self.aligned(operands.map { ($0.name, $0.help) })
    }
    lines += ["", "OPTIONS:"]
    lines += Self.aligned(
      (options + [Self.help]).map { option in
        ("--\(option.name)" + (option.value.map { " \($0)" } ?? ""), option.help)
      })
    if !examples.isEmpty {
      lines += ["", "EXAMPLES:"]
      for example in examples { lines += ["  \(example.line)", "      \(example.does)"] }
    }
    return lines.joined(separator: "\n")
  }

  package var usage: String {
    usage(operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }, "[OPTIONS]")
  }

  /// The line of usage with a word that asks for other operands.
  func usage(_ operands: [String], _ options: String) -> String {
    ([program, name] + operands + [options]).joined(separator: " ")
  }

  package static func aligned(_ rows: [(String, String)]) -> [String] {
    let width = min(rows.map(\.0.count).max() ?? 0, 32)
    return rows.map { left, right in
      "  " + left + String(repeating: " ", count: max(2, width + 2 - left.count)) + right
    }
  }
}
