import Foundation
import MartletCommandLine
import Testing

@testable import MartletCommand

/// The tool that benchmarks and conformance suites use.
@Suite(.timeLimit(.minutes(1))) struct LabTests {
  @Test func `martlet-lab measures and echoes, and the command does neither`() async throws {
    let names = Subcommands.specifications.map(\.name)
    #expect(!names.contains("bench") && !names.contains("echo"))
    let help = try await ShellRun.bash("martlet-lab --help")
    #expect(help.status == 0)
    #expect(help.output.contains("bench") && help.output.contains("echo"))
    let figure = try await ShellRun.bash("martlet-lab bench json --operations 10")
    #expect(figure.status == 0, "\(figure.errors)")
    #expect(figure.output.hasPrefix("{"))
    let wrong = try await ShellRun.bash("martlet-lab bensch")
    #expect(wrong.status == ExitCode.usage.rawValue)
    #expect(wrong.errors.contains("Did you mean 'bench'?"))
  }
}
