import Foundation
import MartletCommandLine
import Testing

@testable import MartletCommand

@Suite struct HelpTests {
  @Test func `the help of a subcommand has usage, operands, options and examples`() {
    #expect(
      BackupCommand.specification.helpText == """
        USAGE: martlet backup DATA COPY [OPTIONS]

        Copy a data folder, also while a server uses it.

        A server that uses DATA makes the copy itself, some pages between two groups of writes, and is not held up. \
        COPY appears when it is complete and checked. The trees of further namespaces are copied with it, each in one \
        state of its own. To restore, stop the server and serve the copy. Clients that have seen more than the copy holds \
        receive one gap; all others continue where they were.

        OPERANDS:
          DATA  the data folder, as given to 'serve --data'
          COPY  the folder to write; it must hold no data yet

        OPTIONS:
          --wait TIME  how long the server that uses DATA may take to begin (30s)
          --help       show this help

        EXAMPLES:
          martlet backup data backup-monday
              copies one state of the data, change log included
        """)
  }

  @Test func `the overview names every subcommand and exit code`() {
    let overview = HelpCommand.overview
    for command in Subcommands.specifications {
      #expect(overview.contains("\n  \(command.name) "), "\(command.name)")
    }
    for code in ExitCode.allCases { #expect(overview.contains("\n  \(code.rawValue) "), "\(code)") }
  }

  @Test(arguments: Subcommands.specifications.map(\.name))
  func `every example of the help is a command line that parses`(name: String) throws {
    let specification = try #require(Subcommands.named(name)).specification
    for example in specification.examples where example.line.hasPrefix("martlet ") {
      let words = Self.words(example.line.split(separator: ">")[0])
      #expect(words.count >= 2 && words[1] == name, "\(example.line)")
      #expect(throws: Never.self, "\(example.line)") {
        try ParsedArguments(Array(words.dropFirst(2)), for: specification)
      }
    }
  }

  /// Splits at spaces outside quotes.
  static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Character?
    for character in line {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "\"" || character == "'" {
        quote = character
      } else if quote == nil, character == " " {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `completion offers every subcommand and option`(shell: String) throws {
    let script = try Completion.script(for: shell, commands: Subcommands.specifications)
    for command in Subcommands.specifications {
      #expect(script.contains(command.name))
      for option in command.options { #expect(script.contains(option.name)) }
    }
  }

  @Test func `the completion script is one bash accepts, and it completes`() async throws {
    let script = try Completion.script(for: "bash", commands: Subcommands.specifications)
    let result = try await ShellRun.bash(
      script + "\nCOMP_WORDS=(martlet serve --da); COMP_CWORD=2; _martlet; echo \"${COMPREPLY[@]}\"")
    #expect(result.status == 0)
    #expect(result.output == "--data\n")
  }

  @Test func `completion offers an option's values after it`() async throws {
    let script = try Completion.script(for: "bash", commands: Subcommands.specifications)
    let result = try await ShellRun.bash(
      script + "\nCOMP_WORDS=(martlet subscribe --protocol graphql-w); COMP_CWORD=3; _martlet; echo \"${COMPREPLY[@]}\""
    )
    #expect(result.status == 0)
    #expect(result.output == "graphql-ws\n")
    let zsh = try Completion.script(for: "zsh", commands: Subcommands.specifications)
    #expect(zsh.contains(#":NAME:((graphql-transport-ws\:"the WebSocket protocol of graphql-ws" graphql-ws\:""#))
    let fish = try Completion.script(for: "fish", commands: Subcommands.specifications)
    #expect(fish.contains(#"-l protocol -x -a '(printf \'%s\\t%s\\n\' \'graphql-transport-ws\'"#))
  }
}
