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
    /// Words by the operand before.
    case wordsAfter([(operand: String, words: [CommandSpecification.Choice])])
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
    if !operand.offers.isEmpty { return .words(operand.offers) }
    if !operand.offersAfter.isEmpty { return .wordsAfter(operand.offersAfter) }
    return ["URL", "MODEL", "NAME", "VALUE"].contains(operand.name) ? .nothing : .files
  }

  private static func words(_ command: CommandSpecification) -> [String] {
    (command.options + [CommandSpecification.help]).map { "--\($0.name)" }
  }

  // MARK: bash

  private static func bash(_ commands: [CommandSpecification]) -> String {
    var lines = [
      "_martlet() {", "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
      "  local index operand=0 before=", "  COMPREPLY=()",
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
            case .nothing, .wordsAfter: ":"
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
      lines += [
        "        --*) ;;", "        *) ((operand++)); before=${COMP_WORDS[index]} ;;", "      esac; done",
        "      case $operand in",
      ]
      for (place, operand) in command.operands.enumerated() {
        let found =
          switch offer(operand, commands) {
          case .words(let choices): reply("-W '\(names(choices)) \(options)'")
          case .wordsAfter(let cases):
            "case $before in "
              + cases.map { "\($0.operand)) \(reply("-W '\(names($0.words)) \(options)'")) ;; " }.joined()
              + "*) \(reply("-W '\(options)'")) ;; esac"
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
    lines.insert(contentsOf: commands.flatMap(zshFunctions), at: 1)
    for command in commands {
      var parts = command.options.map { option in
        let value = option.value.map { ":\(zshText($0)):\(zshAction(offer(option)))" } ?? ""
        return "'\(option.repeats ? "*" : "")--\(option.name)[\(zshText(option.help))]\(value)'"
      }
      parts.append("'--help[\(zshText(CommandSpecification.help.help))]'")
      for (index, operand) in command.operands.enumerated() {
        // The first operand is the third word.
        var action = zshAction(offer(operand, commands))
        if !operand.offersAfter.isEmpty { action = zshFunction(command, operand) }
        parts.append("'\(index + 2):\(zshText(operand.name)):\(action)'")
      }
      lines.append("    \(command.name)) _arguments \(parts.joined(separator: " ")) ;;")
    }
    return (lines + ["  esac", "}", "_martlet \"$@\""]).joined(separator: "\n")
  }

  private static func zshFunction(
    _ command: CommandSpecification, _ operand: CommandSpecification.Operand
  ) -> String {
    "_martlet_\(command.name)_\(operand.name)"
  }

  /// For operands whose words follow from the operand before: a function each, because an action has no cases.
  private static func zshFunctions(_ command: CommandSpecification) -> [String] {
    command.operands.enumerated().flatMap { index, operand -> [String] in
      guard case let cases = operand.offersAfter, !cases.isEmpty else { return [] }
      // The subcommand is the first of the line's words that are not options.
      var lines = ["\(zshFunction(command, operand))() {", "  local -a offered", "  case $line[\(index + 1)] in"]
      for (before, words) in cases {
        let offered = words.map { "'\($0.name):\(zshText($0.help))'" }.joined(separator: " ")
        lines.append("    \(before)) offered=(\(offered)) ;;")
      }
      return lines + ["    *) return 1 ;;", "  esac", "  _describe '\(operand.name)' offered", "}"]
    }
  }

  private static func zshAction(_ offer: Offer) -> String {
    switch offer {
    case .words(let choices) where choices.allSatisfy(\.help.isEmpty): "(\(names(choices)))"
    case .words(let choices):
      "((" + choices.map { "\($0.name)\\:\"\(zshQuoted($0.help))\"" }.joined(separator: " ") + "))"
    case .files: "_files"
    case .nothing, .wordsAfter: " "
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
          case .nothing, .wordsAfter: " -x"
          }
        lines.append("complete -c martlet -n '\(isIn)' -l \(option.name)\(value) -d '\(fishText(option.help))'")
      }
      let takesFiles = command.operands.contains { if case .files = offer($0, commands) { true } else { false } }
      if !takesFiles { lines.append("complete -c martlet -f -n '\(isIn)'") }
      func add(_ words: [CommandSpecification.Choice], _ operand: CommandSpecification.Operand, when condition: String)
      {
        // Not again once it has been given. `help` takes the names of commands, its own among them.
        let given = words.map(\.name).filter { $0 != command.name }.joined(separator: " ")
        for word in words {
          let help = word.help.isEmpty ? operand.name : word.help
          lines.append(
            "complete -c martlet -f -n '\(condition); and not __fish_seen_subcommand_from \(given)' -a '\(word.name)' "
              + "-d '\(fishText(help))'")
        }
      }
      for operand in command.operands {
        switch offer(operand, commands) {
        case .words(let choices): add(choices, operand, when: isIn)
        case .wordsAfter(let cases):
          for (before, words) in cases {
            add(words, operand, when: "\(isIn); and __fish_seen_subcommand_from \(before)")
          }
        case .files, .nothing: break
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
