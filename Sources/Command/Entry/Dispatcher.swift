/// Finds the subcommand, checks its words, runs it and says what went wrong.
enum Dispatcher {
  static func run(_ words: [String]) async -> ExitCode {
    guard let first = words.first else {
      Console.error(HelpCommand.overview)
      return .usage
    }
    switch first {
    case "--help", "-h":
      Console.out(HelpCommand.overview)
      return .success
    case "--version":
      Console.out(Version.text)
      return .success
    default: break
    }
    guard let command = Subcommands.named(first) else {
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

  /// The message for a word that is not a subcommand.
  static func unknown(_ word: String) -> String {
    let names = Subcommands.specifications.map(\.name)
    if let near = Choices.nearest(word, among: names) {
      return "Unknown subcommand '\(word)'. Did you mean '\(near)'?"
    }
    return "Unknown subcommand '\(word)'. 'martlet help' lists them."
  }
}
