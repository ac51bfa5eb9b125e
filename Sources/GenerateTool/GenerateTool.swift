internal import Foundation
import MartletGenerateFiles
import MartletGenerator

/// What the build plugin runs: `martlet-generate CONFIGURATION OUTPUT.swift`, or with a folder in place of a
/// configuration for the defaults. People use `martlet generate`.
@main
enum GenerateTool {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count == 2 else {
      report("USAGE: martlet-generate CONFIGURATION|FOLDER OUTPUT.swift")
      exit(64)
    }
    do {
      try run(configuration: words[0], output: words[1])
    } catch let failure as GenerationErrors {
      // The form that builds show as errors of the file.
      for error in failure.errors {
        let line = error.described(as: "error: ")
        report(error.file == nil ? "\(words[0]): \(line)" : line)
      }
      exit(65)
    } catch {
      report("\(words[0]): error: \(error.localizedDescription)")
      exit(74)
    }
  }

  private static func run(configuration path: String, output: String) throws {
    let url = URL(fileURLWithPath: path)
    let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
    var settings = GenerateSettings()
    if !isFolder { settings = try GenerateSettings(try String(contentsOf: url, encoding: .utf8), file: path) }
    settings.output = output
    let folder = GenerateFolder((isFolder ? url : url.deletingLastPathComponent()).path, settings: settings)
    let made = try folder.generate(try folder.schema())
    for warning in made.warnings { report(warning.described(as: "warning: ")) }
    _ = try folder.write(made)
  }

  private static func report(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
