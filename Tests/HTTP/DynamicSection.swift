import Foundation

/// The shared libraries that a program names as needed, read from its file: ELF of 64 bits, least byte first.
struct DynamicSection {
  struct Malformed: Error {}

  let needed: [String]

  init(of program: URL) throws {
    let file = [UInt8](try Data(contentsOf: program, options: .mappedIfSafe))
    func number(_ at: Int, _ width: Int) throws -> Int {
      guard at >= 0, at <= file.count - width else { throw Malformed() }
      return Int(truncatingIfNeeded: (0..<width).reduce(UInt64(0)) { $0 | UInt64(file[at + $1]) << (8 * UInt64($1)) })
    }
    guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { throw Malformed() }
    // The table of sections: where it stands, how long an entry is, how many there are.
    let (table, size, count) = (try number(0x28, 8), try number(0x3A, 2), try number(0x3C, 2))
    func section(_ index: Int) throws -> (kind: Int, start: Int, length: Int, link: Int) {
      let at = table + index * size
      return (try number(at + 4, 4), try number(at + 0x18, 8), try number(at + 0x20, 8), try number(at + 0x28, 4))
    }
    let dynamic = 6
    guard let found = try (0..<count).map(section).first(where: { $0.kind == dynamic }) else { throw Malformed() }
    let names = try section(found.link)
    var needed: [String] = []
    for entry in stride(from: found.start, to: found.start + found.length, by: 16) where try number(entry, 8) == 1 {
      let start = names.start + (try number(entry + 8, 8))
      guard start < file.count else { throw Malformed() }
      needed.append(String(decoding: file[start...].prefix { $0 != 0 }, as: UTF8.self))
    }
    self.needed = needed
  }

  /// Whether a library of this name is needed, whatever its version.
  func needs(_ name: String) -> Bool { needed.contains { $0.hasPrefix("\(name).so") } }
}
