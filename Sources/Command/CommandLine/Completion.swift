/// Shell completion, written from the same specifications as the help.
enum Completion {
  static func script(for shell: String, commands: [CommandSpecification]) throws(UsageError) -> String {
    switch shell {
    case "bash": bash(commands)
    case "zsh": zsh(commands)
    case "fish": fish(commands)
    default: throw UsageError("Unknown shell '\(shell)': bash, zsh or fish.")
    }
  }

  private static func words(_ command: CommandSpecification) -> [String] {
    (command.options + [CommandSpecification.help]).map { "--\($0.name)" }
  }

  private static func bash(_ commands: [CommandSpecification]) -> String {
    var lines = ["_martlet() {", "  local current=${COMP_WORDS[COMP_CWORD]}", "  case ${COMP_WORDS[1]} in"]
    for command in commands {
      // The values of an option stand behind its name.
      for option in command.options where !option.choices.isEmpty {
        lines.append(
          "    \(command.name)) [ \"${COMP_WORDS[COMP_CWORD-1]}\" = --\(option.name) ] && { COMPREPLY=($(compgen -W "
            + "'\(option.choices.joined(separator: " "))' -- \"$current\")); return; } ;;&")
      }
      lines.append(
        "    \(command.name)) COMPREPLY=($(compgen -f -W '\(words(command).joined(separator: " "))' -- \"$current\")) ;;"
      )
    }
    lines += [
      "    *) COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " "))' -- \"$current\")) ;;",
      "  esac", "}", "complete -o filenames -F _martlet martlet",
    ]
    return lines.joined(separator: "\n")
  }

  private static func zsh(_ commands: [CommandSpecification]) -> String {
    var lines = ["#compdef martlet", "_martlet() {", "  if (( CURRENT == 2 )); then", "    _values command \\"]
    lines += commands.map { "      '\($0.name)[\(quoted($0.summary))]' \\" }
    lines += ["    && return", "  fi", "  case $words[2] in"]
    for command in commands {
      let options = command.options.map {
        "'--\($0.name)[\(quoted($0.help))]\(Self.values(of: $0))'"
      }
      lines.append("    \(command.name)) _arguments \((options + ["'*:operand:_files'"]).joined(separator: " ")) ;;")
    }
    return (lines + ["  esac", "}", "_martlet \"$@\""]).joined(separator: "\n")
  }

  private static func fish(_ commands: [CommandSpecification]) -> String {
    var lines: [String] = []
    for command in commands {
      lines.append("complete -c martlet -n __fish_use_subcommand -a \(command.name) -d '\(quoted(command.summary))'")
      for option in command.options {
        let choices = option.choices.joined(separator: " ")
        let value = option.value == nil ? "" : choices.isEmpty ? " -r" : " -x -a '\(choices)'"
        lines.append(
          "complete -c martlet -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)\(value)"
            + " -d '\(quoted(option.help))'")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// What zsh offers behind an option.
  private static func values(of option: CommandSpecification.Option) -> String {
    guard let value = option.value else { return "" }
    return option.choices.isEmpty ? ":\(value):_files" : ":\(value):(\(option.choices.joined(separator: " ")))"
  }

  private static func quoted(_ text: String) -> String {
    text.filter { $0 != "'" && $0 != "[" && $0 != "]" && $0 != ":" }
  }
}
