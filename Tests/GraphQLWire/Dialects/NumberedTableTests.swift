import MartletVocabulary
import Testing

@testable import MartletGraphQLWire

@Suite struct NumberedTableTests {
  @Test func `values by number are those of a dictionary, in the numbers' order, after any operations`() {
    var chance = SeededRandom(seed: 7)
    for _ in 0..<50 {
      var table = NumberedTable<Int>()
      var expected: [Int: Int] = [:]
      for step in 0..<200 {
        let number = Int.random(in: 0..<40, using: &chance)
        switch Int.random(in: 0..<3, using: &chance) {
        case 0:
          table[number] = step
          expected[number] = step
        case 1:
          #expect(table.remove(number) == expected.removeValue(forKey: number))
        default:
          table[number] = nil
          expected[number] = nil
        }
        #expect(table[number] == expected[number])
        #expect(table.count == expected.count)
        #expect(table.isEmpty == expected.isEmpty)
      }
      #expect(table.numbers == expected.keys.sorted())
      #expect(table.entries.map(\.value) == expected.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  @Test func `an operation is found by its id and by its number, whether there are few or many`() throws {
    var table = ServerOperationTable()
    var numbers: [Int] = []
    for index in 0..<30 {
      let id = OperationID(number: index)
      #expect(table.number(of: id) == nil)
      numbers.append(table.reserve(id))
      for (place, number) in numbers.enumerated() {
        #expect(table.number(of: OperationID(number: place)) == number)
        #expect(table.id(of: number) == OperationID(number: place))
      }
    }
    for (place, number) in numbers.enumerated() {
      #expect(table.remove(number) == OperationID(number: place))
      #expect(table.remove(number) == nil)
      #expect(table.number(of: OperationID(number: place)) == nil)
      #expect(table.count == 29 - place)
    }
    let again = table.reserve(OperationID(number: 0))
    #expect(again > (numbers.last ?? 0))
    #expect(table.removeAll() == [again])
    #expect(table.number(of: OperationID(number: 0)) == nil)
  }
}
