import MartletCommandLine

/// `martlet help [SUBCOMMAND]`.
enum HelpCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "help", summary: "Show this help, or the help of a subcommand.",
    operands: [.init(name: subcommandOperand, help: "the subcommand to explain", isOptional: true)])

  /// Completion offers the subcommands for it.
  static let subcommandOperand = "SUBCOMMAND"

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    guard let name = arguments.operands.first else {
      Console.out(overview)
      return .success
    }
    guard let command = Subcommands.named(name) else { throw UsageError(Subcommands.dispatcher.unknown(name)) }
    Console.out(command.specification.helpText)
    return .success
  }

  static var overview: String {
    let commands = CommandSpecification.aligned(Subcommands.specifications.map { ($0.name, $0.summary) })
    let codes = CommandSpecification.aligned(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
    return
      (["USAGE: martlet SUBCOMMAND [OPERANDS] [OPTIONS]", "", "Real-time data from one change log.", ""]
      + ["SUBCOMMANDS:"] + commands + ["", "EXIT CODES:"] + codes
      + ["", "'martlet help SUBCOMMAND' shows options and examples; 'martlet --version' the version."])
      .joined(separator: "\n")
  }
}

/// `martlet completion SHELL`.
enum CompletionCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "completion", summary: "Print a completion script for a shell.",
    operands: [.init(name: "SHELL", help: "bash, zsh or fish", choices: Completion.shells.map { .init($0) })],
    examples: [
      ("source <(martlet completion bash)", "completes subcommands and options in this shell"),
      ("martlet completion fish > ~/.config/fish/completions/martlet.fish", "does so in every new fish shell"),
    ])

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    Console.out(try Completion.script(for: arguments.operands[0], commands: Subcommands.specifications))
    return .success
  }
}
