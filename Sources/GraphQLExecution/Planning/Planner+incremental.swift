import MartletGraphQLLanguage

// The execution plan of the incremental delivery proposal: which fields of an object come at once, and which come
// together later.
extension Planner {
  /// Divides the collected fields of an object between the part that belongs to the deferred fragments `within` and
  /// parts of their own.
  mutating func split(_ collector: FieldCollector, within: [DeferUsage]) throws(PlanFault) -> SelectionPlan {
    var own: [[CollectedField]] = []
    var groups: [(usages: [DeferUsage], fields: [[CollectedField]])] = []
    for places in collector.groups {
      for (usages, places) in portions(of: places) {
        if Self.areSame(usages, within) {
          own.append(places)
        } else if let index = groups.firstIndex(where: { Self.areSame($0.usages, usages) }) {
          groups[index].fields.append(places)
        } else {
          groups.append((usages, [places]))
        }
      }
    }
    let fields = try plan(own, of: collector, within: within)
    guard !(groups.isEmpty && collector.usages.isEmpty) else {
      return SelectionPlan(typeName: collector.type.name, fields: fields, fault: nil)
    }
    isIncremental = true
    var deferred: [DeferredGroup] = []
    for group in groups {
      let fields = try plan(group.fields, of: collector, within: group.usages)
      deferred.append(
        DeferredGroup(
          usages: group.usages,
          selection: SelectionPlan(typeName: collector.type.name, fields: fields, fault: nil)))
    }
    return SelectionPlan(
      typeName: collector.type.name, fields: fields, fault: nil,
      deferral: DeferralPlan(usages: collector.usages, groups: deferred))
  }

  private mutating func plan(
    _ groups: [[CollectedField]], of collector: FieldCollector, within: [DeferUsage]
  ) throws(PlanFault) -> [FieldPlan] {
    var fields: [FieldPlan] = []
    fields.reserveCapacity(groups.count)
    for places in groups {
      var stream: Directive?
      for place in places where stream == nil { stream = try collector.stream(place.node.directives) }
      if let field = plan(places, on: collector.type, within: within, stream: stream) { fields.append(field) }
    }
    return fields
  }

  /// The deferred fragments that a field belongs to, with the places that matter to them. In the current format a field
  /// is delivered once: at once, if it is selected outside of all deferred fragments, and else with the outermost ones.
  private func portions(of places: [CollectedField]) -> [(usages: [DeferUsage], places: [CollectedField])] {
    var portions: [(usages: [DeferUsage], places: [CollectedField])] = []
    switch format {
    case .older:
      for place in places {
        let usages = place.usage.map { [$0] } ?? []
        if let index = portions.firstIndex(where: { Self.areSame($0.usages, usages) }) {
          portions[index].places.append(place)
        } else {
          portions.append((usages, [place]))
        }
      }
      return portions
    case .current, nil:
      var usages: [DeferUsage] = []
      for place in places {
        guard let usage = place.usage else { return [([], places)] }
        if !usages.contains(where: { $0 === usage }) { usages.append(usage) }
      }
      return [(usages.filter { !$0.isInside(usages) }, places)]
    }
  }

  private static func areSame(_ left: [DeferUsage], _ right: [DeferUsage]) -> Bool {
    left.count == right.count && left.allSatisfy { usage in right.contains { $0 === usage } }
  }
}
