import Foundation
import Testing

/// Completion in the shells themselves, where they are installed: what one would be offered at the end of a line.
@Suite(.timeLimit(.minutes(2))) struct ShellCompletionTests {
  private static func isInstalled(_ program: String) -> Bool {
    ["/bin/", "/usr/bin/", "/usr/local/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
  }

  /// Lines, and what is offered at their ends.
  private static let rows: [(line: String, offers: [String], lacks: [String])] = [
    ("martlet acc", ["access"], ["serve"]),
    ("martlet access ", ["key", "token", "explain"], ["check", "file.csv"]),
    ("martlet access key ", ["create", "list", "revoke"], ["check", "token", "file.csv"]),
    ("martlet access token ", ["check"], ["create", "revoke", "file.csv"]),
    ("martlet access key create ", [], ["list", "token", "file.csv"]),
    ("martlet schema ", ["check", "print"], ["file.csv"]),
    ("martlet subscribe u --protocol ss", ["sse", "sse-single"], ["file.csv"]),
    ("martlet help gen", ["generate"], ["serve"]),
  ]

  private func offers(_ shell: String, _ script: String) async throws {
    let lines = Self.rows.map { "'\($0.line)'" }.joined(separator: " ")
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; touch file.csv; export HOME=$PWD
      martlet completion \(shell) > completion
      \(script.replacingOccurrences(of: "LINES", with: lines))
      """)
    #expect(run.status == 0, "\(run.errors)")
    let answers = run.output.components(separatedBy: "=====\n").dropFirst()
    #expect(answers.count == Self.rows.count, "\(run.output) \(run.errors)")
    for (row, answer) in zip(Self.rows, answers) {
      let words = Set(answer.split(whereSeparator: \.isWhitespace).map(String.init))
      for word in row.offers { #expect(words.contains(word), "\(shell), \(row.line): \(answer)") }
      for word in row.lacks { #expect(!words.contains(word), "\(shell), \(row.line): \(answer)") }
    }
  }

  @Test(.enabled(if: isInstalled("fish"), "fish is not installed"))
  func `fish offers the words of each place`() async throws {
    try await offers(
      "fish",
      """
      cat > ask.fish <<'END'
      source completion
      for line in $argv
        echo =====
        complete -C $line | cut -f 1
      end
      END
      fish --no-config ask.fish LINES
      """)
  }

  @Test(.enabled(if: isInstalled("zsh"), "zsh is not installed"))
  func `zsh offers the words of each place`() async throws {
    try await offers(
      "zsh",
      #"""
      mkdir functions; cp completion functions/_martlet
      cat > ask.zsh <<'END'
      zmodload zsh/zpty
      zpty shell zsh -f -i
      # Every candidate is printed in a line of its own between marks, and nothing is inserted.
      zpty -w shell 'PROMPT=; RPROMPT=; unsetopt zle_bracketed_paste; fpath=($PWD/functions $fpath)'
      zpty -w shell 'autoload -Uz compinit; compinit -u -D'
      zpty -w shell 'compadd () {
        if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
        local -a __hits; builtin compadd -A __hits "$@"; builtin compadd "$@"; local __result=$?
        for hit in $__hits; do print -r -- "HIT $hit" >> $HOME/hits; done
        return $__result
      }'
      zpty -w shell 'finished () { print DONE >> $HOME/hits; }; zle -N finished; bindkey "^X" finished'
      zpty -w shell 'zstyle ":completion:*" list-prompt ""; LISTMAX=10000; bindkey "^I" complete-word; print READY >> $HOME/hits'
      wait_for () { repeat 600; do grep -q $1 $HOME/hits 2>/dev/null && return; zpty -r -t shell drained 2>/dev/null; sleep 0.05; done; exit 9 }
      wait_for READY
      for line in "$@"; do
        : > $HOME/hits
        zpty -w -n shell "$line"$'\t'$'\C-x'
        wait_for DONE
        print -r -- '====='
        sed -n "s/^HIT //p" $HOME/hits
        # Leaves the line.
        zpty -w -n shell $'\C-u'
      done
      zpty -d shell
      END
      zsh -f ask.zsh LINES
      """#)
  }
}
