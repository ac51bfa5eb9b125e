/// A table of text with named columns, read from comma-separated values (RFC 4180: quotes, doubled quotes, CRLF).
struct CSV {
  struct Malformed: Error, CustomStringConvertible {
    let line: Int
    let reason: String
    var description: String { "line \(line): \(reason)" }
  }

  /// One row; a cell that is empty or `NA` counts as missing.
  struct Row {
    fileprivate let columns: [String: Int]
    fileprivate let cells: [String]

    subscript(column: String) -> String? {
      guard let index = columns[column], index < cells.count else { return nil }
      let cell = cells[index]
      return cell.isEmpty || cell == "NA" ? nil : cell
    }

    func integer(_ column: String) -> Int? { self[column].flatMap { Int($0) } }
    func number(_ column: String) -> Double? { self[column].flatMap { Double($0) } }
  }

  let rows: [Row]

  init(_ text: String) throws {
    var records = try Self.records(Array(text.utf8))
    guard !records.isEmpty else { throw Malformed(line: 1, reason: "there is no header") }
    let header = records.removeFirst().cells
    let columns = Dictionary(header.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    rows = try records.map { record in
      guard record.cells.count == header.count else {
        throw Malformed(line: record.line, reason: "\(record.cells.count) cells under \(header.count) columns")
      }
      return Row(columns: columns, cells: record.cells)
    }
  }

  private static func records(_ bytes: [UInt8]) throws -> [(line: Int, cells: [String])] {
    var records: [(line: Int, cells: [String])] = []
    var cells: [String] = []
    var cell: [UInt8] = []
    var line = 1
    var start = 1
    var quoted = false
    var index = 0

    func endCell() {
      cells.append(String(decoding: cell, as: UTF8.self))
      cell.removeAll(keepingCapacity: true)
    }
    func endRecord() {
      endCell()
      if cells != [""] { records.append((start, cells)) }
      cells.removeAll(keepingCapacity: true)
    }

    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if quoted {
        if byte == UInt8(ascii: "\"") {
          if index < bytes.count, bytes[index] == byte {
            cell.append(byte)
            index += 1
          } else {
            quoted = false
          }
        } else {
          if byte == UInt8(ascii: "\n") { line += 1 }
          cell.append(byte)
        }
      } else if byte == UInt8(ascii: "\""), cell.isEmpty {
        quoted = true
      } else if byte == UInt8(ascii: ",") {
        endCell()
      } else if byte == UInt8(ascii: "\n") {
        endRecord()
        line += 1
        start = line
      } else if byte != UInt8(ascii: "\r") {
        cell.append(byte)
      }
    }
    guard !quoted else { throw Malformed(line: start, reason: "a quote is not closed") }
    if !cell.isEmpty || !cells.isEmpty { endRecord() }
    return records
  }
}
