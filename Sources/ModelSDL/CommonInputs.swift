/// The inputs and enums every served model schema has: the operators of AppSync's generator.
enum CommonInputs {
  static let source = #"""
    enum ModelSortDirection { ASC DESC }
    enum ModelAttributeTypes { binary binarySet bool list map number numberSet string stringSet _null }
    input ModelSizeInput { ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] }
    input ModelStringInput {
      ne: String eq: String le: String lt: String ge: String gt: String contains: String notContains: String
      between: [String] beginsWith: String attributeExists: Boolean attributeType: ModelAttributeTypes
      size: ModelSizeInput
    }
    input ModelIDInput {
      ne: ID eq: ID le: ID lt: ID ge: ID gt: ID contains: ID notContains: ID between: [ID] beginsWith: ID
      attributeExists: Boolean attributeType: ModelAttributeTypes size: ModelSizeInput
    }
    input ModelIntInput {
      ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] attributeExists: Boolean
      attributeType: ModelAttributeTypes
    }
    input ModelFloatInput {
      ne: Float eq: Float le: Float lt: Float ge: Float gt: Float between: [Float] attributeExists: Boolean
      attributeType: ModelAttributeTypes
    }
    input ModelBooleanInput { ne: Boolean eq: Boolean attributeExists: Boolean attributeType: ModelAttributeTypes }
    input ModelStringKeyConditionInput {
      eq: String le: String lt: String ge: String gt: String between: [String] beginsWith: String
    }
    input ModelIDKeyConditionInput { eq: ID le: ID lt: ID ge: ID gt: ID between: [ID] beginsWith: ID }
    input ModelIntKeyConditionInput { eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] }
    input ModelFloatKeyConditionInput { eq: Float le: Float lt: Float ge: Float gt: Float between: [Float] }
    input ModelSubscriptionStringInput {
      ne: String eq: String le: String lt: String ge: String gt: String contains: String notContains: String
      between: [String] beginsWith: String in: [String] notIn: [String]
    }
    input ModelSubscriptionIDInput {
      ne: ID eq: ID le: ID lt: ID ge: ID gt: ID contains: ID notContains: ID between: [ID] beginsWith: ID in: [ID]
      notIn: [ID]
    }
    input ModelSubscriptionIntInput {
      ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] in: [Int] notIn: [Int]
    }
    input ModelSubscriptionFloatInput {
      ne: Float eq: Float le: Float lt: Float ge: Float gt: Float between: [Float] in: [Float] notIn: [Float]
    }
    input ModelSubscriptionBooleanInput { ne: Boolean eq: Boolean }
    """#
}
