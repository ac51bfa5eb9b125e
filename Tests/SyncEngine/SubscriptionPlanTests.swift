import MartletSyncEngine
import Testing

@Suite struct SubscriptionPlanTests {
  @Test func `40 models need two connections of an AppSync endpoint: there is no limit of 33 models`() {
    let plan = SubscriptionPlan(models: 40)
    #expect(plan.connections.map(\.count) == [100, 20])
    #expect(Set(plan.connections.joined()).count == 120)
  }

  @Test func `a subscription that is refused for their number goes to another connection`() throws {
    var plan = SubscriptionPlan(models: 3, perConnection: 9)
    let item = try #require(plan.connections.first?.last)
    #expect(plan.refuse(item) == 1)
    #expect(plan.connections.map(\.count) == [8, 1])
    #expect(plan.refuse(SubscriptionPlan.Item(model: 9, kind: .onCreate)) == nil)
  }

  @Test func `parents are synced before their children, and a cycle ends`() {
    #expect(DependencyOrder.order(parents: [[1], [2], []]) == [2, 1, 0])
    #expect(DependencyOrder.order(parents: [[1], [0], [2]]).sorted() == [0, 1, 2])
  }
}
