import Foundation
import MartletGenerateFiles
import MartletGenerator
import Testing

/// The files under Golden are part of this target, so that they compile under the house's settings, and must be what
/// the generator writes. `MARTLET_WRITE_GOLDEN=1 swift test --filter GoldenTests` writes them again.
@Suite struct GoldenTests {
  private static let sets = [
    ("Examples/SeedTour", "../../Tests/Generator/Golden/SeedTour.swift"),
    ("Tests/Generator/Fixtures/Zoo", "../../Golden/Zoo"),
    ("Tests/Generator/Fixtures/Library", "../../Golden/Library.swift"),
    ("Tests/Generator/Fixtures/Harbour", "../../Golden/Harbour.swift"),
    ("Tests/Generator/Fixtures/Blog", "../../Golden/Blog.swift"),
  ]

  private static func folder(_ path: String, output: String) throws -> GenerateFolder {
    let folder = Place.root.appendingPathComponent(path)
    let text = try String(contentsOf: folder.appendingPathComponent(GenerateSettings.fileName), encoding: .utf8)
    var settings = try GenerateSettings(text, file: path)
    settings.output = output
    return GenerateFolder(folder.path, settings: settings)
  }

  @Test(arguments: sets)
  func `generating again changes nothing`(path: String, output: String) throws {
    let folder = try Self.folder(path, output: output)
    let made = try folder.generate(try folder.schema())
    if ProcessInfo.processInfo.environment["MARTLET_WRITE_GOLDEN"] != nil { _ = try folder.write(made) }
    #expect(folder.changes(made) == [])
    #expect(made.files.count >= 1)
  }

  @Test func `the order of files and definitions does not show`() throws {
    let schema = "type Query { a: A b: Int } enum A { X Y }"
    let first = "query One { a } fragment F on Query { b }"
    let second = "query Two { ...F }"
    let forth = try Made.output(schema, first, second)
    let back = try Made.output(schema, second, "fragment F on Query { b } query One { a }")
    #expect(forth.files.map(\.name) == back.files.map(\.name))
    let withoutHead = { (file: GeneratedFile) in file.text.split(separator: "\n").dropFirst().joined(separator: "\n") }
    #expect(forth.files.map(withoutHead) == back.files.map(withoutHead))
  }

  @Test func `the types are small: at most two and a half lines for a selected field of a plain query`() throws {
    let fields = (1...40).map { "f\($0)" }
    let schema = "type Query { t: T } type T { \(fields.map { "\($0): Int" }.joined(separator: " ")) }"
    let output = try Made.output(schema, "query Q { t { \(fields.joined(separator: " ")) } }")
    let lines = output.files.reduce(0) { $0 + $1.text.split(separator: "\n").count }
    #expect(output.selectedFields == 41)
    #expect(lines * 2 <= output.selectedFields * 5, "\(lines) lines")
  }
}
