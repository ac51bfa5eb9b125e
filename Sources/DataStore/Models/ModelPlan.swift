internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

/// The models of a store with their relations resolved: tables, and how rows become values.
struct ModelPlan {
  private(set) var mappings: [ModelMapping] = []
  private(set) var references: [ClientReference] = []

  /// How deep records that are read with a record may nest. Models that hold each other would nest without end; what
  /// lies deeper is left out.
  private static let eagerDepth = 4

  private let drafts: [ModelDraft]
  private var columns: [[RecordColumn]] = []
  private var relations: [[String: MappedRelation]] = []

  init(_ types: [any Model.Type]) throws(DataStoreError) {
    var drafts: [ModelDraft] = []
    for type in types { drafts.append(try Self.draft(type)) }
    self.drafts = drafts
    if let twice = drafts.indices.first(where: { index in drafts[..<index].contains { $0.name == drafts[index].name } })
    {
      throw DataStoreError(.invalidModel, "two models are called \(drafts[twice].name)")
    }
    for draft in drafts { columns.append(Self.ownColumns(draft)) }
    for model in drafts.indices { try addHeldKeys(model) }
    for model in drafts.indices { relations.append(try resolve(model)) }
    let names = StoredModels(
      drafts.indices.map { model in
        StoredModels.Model(
          name: drafts[model].name, columns: columns[model].map(\.name),
          moments: Set(columns[model].indices.filter { columns[model][$0].isMoment }), relations: relations[model])
      })
    var shapes = drafts.indices.map(shape)
    for model in drafts.indices {
      for index in drafts[model].indexes { shapes[model].indexes.append(try declared(index, model)) }
    }
    for model in drafts.indices { addIndexes(of: model, &shapes) }
    let link = RoomLink()
    var types = JSONTypeTable.foundation
    for draft in drafts { for type in draft.lazy.values { type.register(in: &types, link) } }
    for model in drafts.indices {
      let rows = rows(of: model, depth: Self.eagerDepth)
      mappings.append(
        ModelMapping(
          name: drafts[model].name, shape: shapes[model], relations: relations[model], rows: rows.fields,
          shown: rows.terms, models: names, decoding: JSONDecoding(types: types), link: link))
    }
  }

  private static func draft<M: Model>(_ type: M.Type) throws(DataStoreError) -> ModelDraft { try ModelDraft(type) }

  // MARK: Columns

  private static func ownColumns(_ draft: ModelDraft) -> [RecordColumn] {
    draft.fields.compactMap { field in
      draft.storages[field].map { storage in
        var column = column(field, storage, isRequired: draft.key.contains(field))
        column.defaultValue = draft.defaults[field] ?? .null
        column.isMoment = storage == .text && draft.moments.contains(field)
        return column
      }
    }
  }

  private static func column(_ name: String, _ storage: ColumnStorage, isRequired: Bool = false) -> RecordColumn {
    RecordColumn(
      name: name, field: name, storage: storage, signature: storage.rawValue, isRequired: isRequired,
      defaultValue: .null)
  }

  /// Adds the columns of other models' keys that the type itself does not have.
  private mutating func addHeldKeys(_ model: Int) throws(DataStoreError) {
    let draft = drafts[model]
    for field in draft.fields {
      guard let relation = draft.relations[field], relation.kind == .belongsTo || relation.kind == .holdsOne else {
        continue
      }
      let target = try target(of: relation, draft, field)
      guard relation.fields.count == drafts[target].key.count else {
        throw DataStoreError(
          .invalidModel,
          "\(draft.name).\(field) names \(relation.fields.count) fields for the key of \(drafts[target].name), which has "
            + "\(drafts[target].key.count)")
      }
      for (name, key) in zip(relation.fields, drafts[target].key) where position(name, model) == nil {
        guard let storage = drafts[target].storages[key] else { continue }
        columns[model].append(Self.column(name, storage))
      }
    }
  }

  private func position(_ name: String, _ model: Int) -> Int? {
    columns[model].firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
  }

  private func positions(_ names: [String], _ model: Int, _ place: String) throws(DataStoreError) -> [Int] {
    var found: [Int] = []
    for name in names {
      guard let position = position(name, model) else {
        throw DataStoreError(.invalidModel, "\(place) names \(drafts[model].name).\(name), which is not a stored field")
      }
      // The file lists the names of keys and indexes with commas between them.
      guard !name.contains(",") else {
        throw DataStoreError(
          .invalidModel, "\(place) names \(drafts[model].name).\(name): what finds records has no comma in its name")
      }
      found.append(position)
    }
    return found
  }

  // MARK: Relations

  private func target(
    of relation: ModelAssociation, _ draft: ModelDraft, _ field: String
  ) throws(DataStoreError) -> Int {
    guard let target = drafts.firstIndex(where: { $0.name == relation.target }) else {
      throw DataStoreError(
        .invalidModel, "\(draft.name).\(field) relates to \(relation.target), which is not one of the store's models")
    }
    return target
  }

  private mutating func resolve(_ model: Int) throws(DataStoreError) -> [String: MappedRelation] {
    let draft = drafts[model]
    let key = try positions(draft.key, model, draft.name)
    var found: [String: MappedRelation] = [:]
    for field in draft.fields {
      guard let relation = draft.relations[field] else { continue }
      let place = "\(draft.name).\(field)"
      let target = try target(of: relation, draft, field)
      var resolved = MappedRelation(
        name: field, target: target, ownFields: key, otherFields: [], holdsKey: false,
        isList: relation.kind == .hasMany, isLazy: draft.lazy[field] != nil)
      switch relation.kind {
      case .belongsTo, .holdsOne:
        resolved.holdsKey = true
        resolved.ownFields = try positions(relation.fields, model, place)
        resolved.otherFields = try positions(drafts[target].key, target, place)
        references.append(
          ClientReference(
            model: model, name: field, fields: resolved.ownFields, target: target, isRequired: relation.isRequired))
      case .hasOne, .hasMany:
        resolved.otherFields = try positions(relation.fields, target, place)
        guard resolved.otherFields.count == key.count else {
          throw DataStoreError(
            .invalidModel, "\(place) names \(relation.fields.count) fields for a key of \(key.count)")
        }
        if relation.deleteRule == .setNull, let kept = neededField(resolved.otherFields, target) {
          throw DataStoreError(
            .invalidModel, "\(place) says onDelete: .setNull, and \(drafts[target].name).\(kept) cannot be null")
        }
      }
      for (own, other) in zip(resolved.ownFields, resolved.otherFields)
      where columns[model][own].storage != columns[target][other].storage {
        throw DataStoreError(.invalidModel, "\(place) compares fields that are stored differently")
      }
      found[field] = resolved
    }
    return found
  }

  /// What stands in the way of clearing these fields of a record: one of its key, a reference that is required, or one
  /// without which its type has no value, so that no query of the model would work.
  private func neededField(_ fields: [Int], _ model: Int) -> String? {
    let draft = drafts[model]
    let names = Set(fields.map { columns[model][$0].name })
    let inKey = draft.key.first { names.contains($0) }
    return inKey
      ?? draft.fields.first { field in
        guard let relation = draft.relations[field] else { return names.contains(field) && draft.needs(field) }
        let holdsKey = relation.kind == .belongsTo || relation.kind == .holdsOne
        return holdsKey && !names.isDisjoint(with: relation.fields) && (relation.isRequired || draft.needs(field))
      }
  }

  // MARK: Tables

  private func shape(_ model: Int) -> RecordShape {
    let key = drafts[model].key.compactMap { position($0, model) }
    var cascades: [RecordShape.Cascade] = []
    for field in drafts[model].fields {
      guard let relation = relations[model][field], !relation.holdsKey, let declared = drafts[model].relations[field]
      else { continue }
      cascades.append(
        RecordShape.Cascade(
          child: relation.target, reference: relation.otherFields, action: declared.deleteRule.action))
    }
    return RecordShape(
      model: model, name: drafts[model].name, tableName: drafts[model].name, columns: columns[model], key: key,
      indexes: [], cascades: cascades)
  }

  /// Adds the indexes by which the records of relations are found, from both sides.
  private func addIndexes(of model: Int, _ shapes: inout [RecordShape]) {
    for field in drafts[model].fields {
      guard let relation = relations[model][field], let declared = drafts[model].relations[field] else { continue }
      let name = "\(drafts[model].name).\(field)"
      switch declared.kind {
      case .belongsTo: shapes[model].index(relation.ownFields)
      case .holdsOne: shapes[model].index(relation.ownFields, oneFor: name)
      case .hasOne: shapes[relation.target].index(relation.otherFields, oneFor: name)
      case .hasMany: shapes[relation.target].index(relation.otherFields)
      }
    }
  }

  private func declared(_ index: StoredIndex, _ model: Int) throws(DataStoreError) -> RecordIndex {
    RecordIndex(
      name: index.name, fields: try positions(index.fields, model, "the index \(index.name)"), isUnique: false)
  }

  // MARK: Rows

  /// How a row of a model becomes JSON, and the related records that belong to it.
  private func rows(of model: Int, depth: Int) -> (fields: RowFields, terms: RelatedTerms) {
    var terms = RelatedTerms(fields: columns[model].count)
    var members: [RowFields.Member] = []
    for field in drafts[model].fields {
      guard let relation = relations[model][field] else {
        if let position = position(field, model) { members.append(.init(name: field, content: .column(position))) }
        continue
      }
      let content: RowFields.Content
      if !relation.isLazy {
        guard depth > 0 else {
          members.append(.init(name: field, content: .absent(isList: relation.isList)))
          continue
        }
        let inner = rows(of: relation.target, depth: depth - 1)
        let place = terms.fields + terms.shown.count
        terms.shown.append(
          RelatedTerm(
            model: relation.target, ownFields: relation.ownFields, otherFields: relation.otherFields,
            content: relation.isList ? .records : .record, related: inner.terms))
        content = relation.isList ? .records(place, inner.fields) : .record(place, inner.fields)
      } else if relation.holdsKey {
        content = .reference(zip(drafts[relation.target].key, relation.ownFields).map { ($0, $1) })
      } else {
        content = .owner(model: drafts[model].name, relation.ownFields)
      }
      members.append(.init(name: field, content: content))
    }
    return (RowFields(members: members), terms)
  }
}

extension ModelAssociation.DeleteRule {
  fileprivate var action: RecordShape.Cascade.Action {
    switch self {
    case .cascade: .delete
    case .restrict: .refuse
    case .setNull: .clear
    }
  }
}

extension RecordShape {
  /// Adds an index over `fields` unless there is one, or the key begins with them. `relation` is the one-to-one
  /// relation for which no two records may share the values.
  fileprivate mutating func index(_ fields: [Int], oneFor relation: String? = nil) {
    let names = fields.map { columns[$0].name }.joined(separator: "_")
    if let relation {
      if indexes.contains(where: { $0.isUnique && $0.fields == fields }) { return }
      // '#' cannot stand in a declared index's name.
      var index = RecordIndex(name: "#one_" + names, fields: fields, isUnique: true)
      index.relation = relation
      return indexes.append(index)
    }
    // An index that was declared over dates orders them by their moments, and keys are texts.
    let hasMoment = fields.contains { columns[$0].isMoment }
    if key.starts(with: fields) || !hasMoment && indexes.contains(where: { $0.fields.starts(with: fields) }) { return }
    indexes.append(RecordIndex(name: "#relation_" + names, fields: fields, isUnique: false))
  }
}
