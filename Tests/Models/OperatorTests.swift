import MartletJSON
import MartletModelSDL
import MartletModels
import MartletSimulation
import Testing

/// Every operator of `Comparison`. A new one does not compile here until it is in the list.
enum ComparedBy: CaseIterable {
  case eq, ne, lt, le, gt, ge, between, beginsWith, contains, notContains, `in`, notIn, attributeExists, attributeType
  case size

  init(_ comparison: Comparison) {
    self =
      switch comparison {
      case .eq: .eq
      case .ne: .ne
      case .lt: .lt
      case .le: .le
      case .gt: .gt
      case .ge: .ge
      case .between: .between
      case .beginsWith: .beginsWith
      case .contains: .contains
      case .notContains: .notContains
      case .in: .in
      case .notIn: .notIn
      case .attributeExists: .attributeExists
      case .attributeType: .attributeType
      case .size: .size
      case .moment(let comparison): ComparedBy(comparison)
      }
  }

  /// The operator in a filter input.
  var written: JSONValue {
    switch self {
    case .eq: ["eq": "a"]
    case .ne: ["ne": "a"]
    case .lt: ["lt": "a"]
    case .le: ["le": "a"]
    case .gt: ["gt": "a"]
    case .ge: ["ge": "a"]
    case .between: ["between": ["a", "b"]]
    case .beginsWith: ["beginsWith": "a"]
    case .contains: ["contains": "a"]
    case .notContains: ["notContains": "a"]
    case .in: ["in": ["a"]]
    case .notIn: ["notIn": ["a"]]
    case .attributeExists: ["attributeExists": true]
    case .attributeType: ["attributeType": "string"]
    case .size: ["size": ["eq": 1]]
    }
  }
}

@Suite struct OperatorTests {
  private static func operators(_ predicate: Predicate) -> Set<ComparedBy> {
    switch predicate {
    case .all, .none: []
    case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion(operators($1)) }
    case .not(let part): operators(part)
    case .compare(_, let comparison): [ComparedBy(comparison)]
    }
  }

  @Test(arguments: ComparedBy.allCases) func `each operator is read by its name`(by: ComparedBy) throws {
    var reader = FilterReader(try FilterReaderTests.model())
    #expect(Self.operators(try reader.read(["title": by.written])) == [by])
  }

  @Test func `random predicates, from which the differential tests are made, have every operator`() {
    var generator = RandomPredicates(seed: 3)
    var found: Set<ComparedBy> = []
    for _ in 0..<2_000 { found.formUnion(Self.operators(generator.predicate(depth: 2))) }
    #expect(found == Set(ComparedBy.allCases))
  }
}
