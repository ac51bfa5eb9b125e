/// What a subcommand accepts. Parsing, `--help` and shell completion are all read from this one description.
struct CommandSpecification: Sendable {
  /// One option, written `--name VALUE` or `--name`.
  struct Option: Sendable {
    let name: String
    /// What the value is called in the help; nil for a switch.
    let value: String?
    let help: String
    /// Whether it may be given several times.
    var repeats = false
    /// The values it can have; empty when anything can be given.
    var choices: [String] = []
  }

  /// One operand, in order.
  struct Operand: Sendable {
    let name: String
    let help: String
    var isOptional = false
    /// The words it can be; empty when anything can be given.
    var choices: [String] = []
  }

  let name: String
  let summary: String
  var operands: [Operand] = []
  var options: [Option] = []
  /// Whole command lines with what they do.
  var examples: [(line: String, does: String)] = []
  /// A paragraph for the help, beyond the summary.
  var discussion = ""

  static let help = Option(name: "help", value: nil, help: "show this help")

  var helpText: String {
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

  var usage: String {
    let words = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    return (["martlet", name] + words + ["[OPTIONS]"]).joined(separator: " ")
  }

  static func aligned(_ rows: [(String, String)]) -> [String] {
    let width = min(rows.map(\.0.count).max() ?? 0, 32)
    return rows.map { left, right in
      "  " + left + String(repeating: " ", count: max(2, width + 2 - left.count)) + right
    }
  }
}
