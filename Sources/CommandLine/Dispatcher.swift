/// Finds the subcommand of a program, checks its words, runs it and says what went wrong.
package struct Dispatcher: Sendable {
  /// The program's name.
  package let program: String
  /// Every subcommand, in the order of the help.
  package let commands: [any Subcommand.Type]
  private let version: String
  private let overview: @Sendable () -> String

  /// - Parameter overview: the text of `--help` without a subcommand.
  package init(
    _ program: String, version: String, commands: [any Subcommand.Type], overview: @escaping @Sendable () -> String
  ) {
    self.program = program
    self.version = version
    self.commands = commands
    self.overview = overview
  }

  package func run(_ words: [String]) async -> ExitCode {
    guard let first = words.first else {
      Console.error(overview())
      return .usage
    }
    switch first {
    case "--help", "-h":
      Console.out(overview())
      return .success
    case "--version":
      Console.out(version)
      return .success
    default: break
    }
    guard let command = named(first) else {
      Console.error(unknown(first))
      return .usage
    }
    do {
      let arguments = try ParsedArguments(Array(words.dropFirst()), for: command.specification)
      if arguments.wantsHelp {
        Console.out(command.specification.helpText)
        return .success
      }
      return try await command.run(arguments)
    } catch let failure as CommandFailure {
      Console.error(failure.message)
      return failure.code
    } catch let error as UsageError {
      Console.error(error.description)
      return .usage
    } catch {
      Console.error("\(error)")
      return .failure
    }
  }

  package func named(_ name: String) -> (any Subcommand.Type)? {
    commands.first { $0.specification.name == name }
  }

  package var specifications: [CommandSpecification] { commands.map { $0.specification } }

  /// The message for a word that is not a subcommand.
  package func unknown(_ word: String) -> String {
    if word.hasPrefix("-") { return unknownOption(word) }
    if let near = Choices.nearest(word, among: specifications.map(\.name)) {
      return "Unknown subcommand '\(word)'. Did you mean '\(near)'?"
    }
    return "Unknown subcommand '\(word)'. '\(program) --help' lists them."
  }

  /// The message for an option in front of the subcommand, where only these two stand.
  private func unknownOption(_ word: String) -> String {
    if let near = Choices.nearest(word, among: ["--help", "--version"]) {
      return "Unknown option \(word). Did you mean \(near)?"
    }
    return "Unknown option \(word). Options follow the subcommand; '\(program) --help' lists the subcommands."
  }
}
