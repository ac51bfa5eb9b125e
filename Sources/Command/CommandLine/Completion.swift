import MartletCommandLine

/// Shell completion, written from the same specifications as the help.
enum Completion {
  static let shells = ["bash", "zsh", "fish"]

  static func script(for shell: String, commands: [CommandSpecification]) throws(UsageError) -> String {
    switch shell {
    case "bash": bash(commands)
    case "zsh": zsh(commands)
    case "fish": fish(commands)
    default: throw UsageError(Choices.unknown(shell, among: shells, is: "SHELL"))
    }
  }

  /// What can stand in one place of a command line.
  private enum Offer {
    case words([CommandSpecification.Choice])
    case files
    case nothing
  }

  private static func offer(_ option: CommandSpecification.Option) -> Offer {
    if !option.choices.isEmpty { return .words(option.choices) }
    let isPath = ["FILE", "DIR", "PATH", "FOLDER", "GLOB"].contains { option.value?.contains($0) == true }
    return isPath ? .files : .nothing
  }

  private static func offer(_ operand: CommandSpecification.Operand, _ commands: [CommandSpecification]) -> Offer {
    if operand.name == HelpCommand.subcommandOperand { return .words(commands.map { .init($0.name, $0.summary) }) }
    if !operand.choices.isEmpty { return .words(operand.choices) }
    return ["URL", "MODEL", "NAME"].contains(operand.name) ? .nothing : .files
  }

  private static func words(_ command: CommandSpecification) -> [String] {
    (command.options + [CommandSpecification.help]).map { "--\($0.name)" }
  }

  // MARK: bash

  private static func bash(_ commands: [CommandSpecification]) -> String {
    var lines = [
      "_martlet() {", "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
      "  local index operand=0", "  COMPREPLY=()",
      "  if [ \"$COMP_CWORD\" -le 1 ]; then", "    " + reply("-W '\(commands.map(\.name).joined(separator: " "))'"),
      "    return", "  fi", "  case ${COMP_WORDS[1]} in",
    ]
    for command in commands {
      lines.append("    \(command.name))")
      // The value of an option stands after its name.
      let valued = command.options.filter { $0.value != nil }
      if !valued.isEmpty {
        lines.append("      case $previous in")
        for option in valued {
          let reply =
            switch offer(option) {
            case .words(let choices): reply("-W '\(names(choices))'")
            case .files: reply("-f")
            case .nothing: ":"
            }
          lines.append("        --\(option.name)) \(reply); return ;;")
        }
        lines.append("      esac")
      }
      let options = words(command).joined(separator: " ")
      // Which operand it is: words before it that are neither options nor their values.
      lines.append("      for ((index = 2; index < COMP_CWORD; index++)); do case ${COMP_WORDS[index]} in")
      if !valued.isEmpty {
        lines.append("        \(valued.map { "--\($0.name)" }.joined(separator: "|"))) ((index++)) ;;")
      }
      lines += ["        --*) ;;", "        *) ((operand++)) ;;", "      esac; done", "      case $operand in"]
      for (place, operand) in command.operands.enumerated() {
        let found =
          switch offer(operand, commands) {
          case .words(let choices): reply("-W '\(names(choices)) \(options)'")
          case .files: reply("-f -W '\(options)'")
          case .nothing: reply("-W '\(options)'")
          }
        lines.append("        \(place)) \(found) ;;")
      }
      lines += ["        *) " + reply("-W '\(options)'") + " ;;", "      esac ;;"]
    }
    return (lines + ["  esac", "}", "complete -o filenames -F _martlet martlet"]).joined(separator: "\n")
  }

  private static func names(_ choices: [CommandSpecification.Choice]) -> String {
    choices.map(\.name).joined(separator: " ")
  }

  private static func reply(_ words: String) -> String { "COMPREPLY=($(compgen \(words) -- \"$current\"))" }

  // MARK: zsh

  private static func zsh(_ commands: [CommandSpecification]) -> String {
    var lines = ["#compdef martlet", "_martlet() {", "  if (( CURRENT == 2 )); then", "    _values command \\"]
    lines += commands.map { "      '\($0.name)[\(zshText($0.summary))]' \\" }
    lines += ["    && return", "  fi", "  case $words[2] in"]
    for command in commands {
      var parts = command.options.map { option in
        let value = option.value.map { ":\(zshText($0)):\(zshAction(offer(option)))" } ?? ""
        return "'\(option.repeats ? "*" : "")--\(option.name)[\(zshText(option.help))]\(value)'"
      }
      parts.append("'--help[\(zshText(CommandSpecification.help.help))]'")
      for (index, operand) in command.operands.enumerated() {
        // The first operand is the third word.
        parts.append("'\(index + 2):\(zshText(operand.name)):\(zshAction(offer(operand, commands)))'")
      }
      lines.append("    \(command.name)) _arguments \(parts.joined(separator: " ")) ;;")
    }
    return (lines + ["  esac", "}", "_martlet \"$@\""]).joined(separator: "\n")
  }

  private static func zshAction(_ offer: Offer) -> String {
    switch offer {
    case .words(let choices) where choices.allSatisfy(\.help.isEmpty): "(\(names(choices)))"
    case .words(let choices):
      "((" + choices.map { "\($0.name)\\:\"\(zshQuoted($0.help))\"" }.joined(separator: " ") + "))"
    case .files: "_files"
    case .nothing: " "
    }
  }

  /// Text inside single quotes and a specification's brackets.
  private static func zshText(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "\\", "[", "]", ":": escaped += "\\\(character)"
      case "'": escaped += "'\\''"
      default: escaped.append(character)
      }
    }
  }

  /// Text inside double quotes, inside single quotes.
  private static func zshQuoted(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "\\", "\"", "$", "`", ":": escaped += "\\\(character)"
      case "'": escaped += "'\\''"
      default: escaped.append(character)
      }
    }
  }

  // MARK: fish

  private static func fish(_ commands: [CommandSpecification]) -> String {
    var lines: [String] = []
    for command in commands {
      lines.append(
        "complete -c martlet -f -n __fish_use_subcommand -a \(command.name) -d '\(fishText(command.summary))'")
      let isIn = "__fish_seen_subcommand_from \(command.name)"
      for option in command.options {
        let value =
          switch offer(option) {
          case _ where option.value == nil: ""
          case .words(let choices): " -x -a '(\(fishText(fishWords(choices))))'"
          case .files: " -r -F"
          case .nothing: " -x"
          }
        lines.append("complete -c martlet -n '\(isIn)' -l \(option.name)\(value) -d '\(fishText(option.help))'")
      }
      if let first = command.operands.first, case .words(let choices) = offer(first, commands) {
        for choice in choices {
          let help = choice.help.isEmpty ? first.name : choice.help
          lines.append("complete -c martlet -f -n '\(isIn)' -a '\(choice.name)' -d '\(fishText(help))'")
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  /// A command that prints each value with its description.
  private static func fishWords(_ choices: [CommandSpecification.Choice]) -> String {
    "printf '%s\\t%s\\n'" + choices.map { " '\(fishText($0.name))' '\(fishText($0.help))'" }.joined()
  }

  /// Text inside single quotes.
  private static func fishText(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      if character == "\\" || character == "'" { escaped += "\\" }
      escaped.append(character)
    }
  }
}
