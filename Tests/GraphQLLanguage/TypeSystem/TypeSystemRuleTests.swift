import MartletGraphQLLanguage
import Testing

/// Type system documents and what is wrong with them, as messages with their places.
@Suite struct `The type system` {
  @Test(arguments: rows)
  func `rejects with messages and places`(row: RuleRow) {
    #expect(throws: SchemaErrors.self) { try Schema.build(row.document) }
    do {
      _ = try Schema.build(row.document)
    } catch {
      #expect(error.errors.map(\.description) == row.errors)
    }
  }

  @Test(arguments: accepted)
  func `accepts`(source: String) throws {
    let schema = try Schema.build(source)
    #expect(schema.queryType != nil)
    // What is written out means the same and is written the same again.
    #expect(try Schema.build(from: schema.document).text == schema.text)
  }

  @Test func `every rule appears in the table`() {
    var seen: Set<String> = []
    for row in Self.rows {
      do {
        _ = try Schema.build(row.document)
      } catch {
        seen.formUnion(error.errors.compactMap(\.rule))
      }
    }
    #expect(Set(TypeSystemRule.allCases.map(\.rawValue)).subtracting(seen).isEmpty)
  }

  static let accepted: [String] = [
    #"type Query{a(i:I):Int} input I{i:I j:[I!]! }"#,
    #"scalar Int type Query{a:Int}"#,
    #"type Query{a:Int} {a}"#,
    #"directive @d repeatable on FIELD | FIELD type Query{a:Int}"#,
    #"interface N{x:Int} type Query implements N{x(a:Int!=1,b:Int):Int}"#,
    #"type Query{a:Int} fragment F on Query{a}"#,
    "interface A { a: Int } interface B implements A { a: Int! b: A } type Query implements A & B { a: Int! b: Query! }",
    "type Query { a(i: I): Int } input I @oneOf { a: I b: Int } input J { i: I! j: J k: [J!]! }",
    "extend schema @d directive @d on SCHEMA type Query { a: Int }",
    "schema { query: Q } type Q { a: E } enum E { A @deprecated(reason: \"old\") B } type Mutation { a: Int }",
  ]

  static let rows: [RuleRow] = [
    RuleRow(
      #"type A{a:Int}"#,
      [
        #"Query root type must be provided."#
      ]),
    RuleRow(
      #"schema{query:A query:B mutation:A} type A{a:Int} input B{a:Int}"#,
      [
        #"There can be only one query type in schema. (1:8, 1:16)"#
      ]),
    RuleRow(
      #"schema{query:A} schema{query:A} type A{a:Int} extend schema {query:A}"#,
      [
        #"Must provide only one schema definition. (1:17)"#,
        #"There can be only one query type in schema. (1:8, 1:24)"#,
        #"There can be only one query type in schema. (1:8, 1:62)"#,
      ]),
    RuleRow(
      #"type Query{a:Int a:Int b(x:Int,x:Int):Int} type Query{b:Int} extend type Query{b:Int}"#,
      [
        #"Field 'Query.a' can only be defined once. (1:12, 1:18)"#,
        #"Argument 'Query.b(x:)' can only be defined once. (1:26, 1:32)"#,
        #"There can be only one type named 'Query'. (1:6, 1:49)"#,
        #"Field 'Query.b' can only be defined once. (1:24, 1:55)"#,
        #"Field 'Query.b' can only be defined once. (1:24, 1:80)"#,
      ]),
    RuleRow(
      #"type Query{a:Nope b(x:Nope2):Int} union U = Nope3 type T implements Nope4{a:Int} input I{a:Nope5} directive @d(a:Nope6) on FIELD"#,
      [
        #"Unknown type 'Nope'. (1:14)"#,
        #"Unknown type 'Nope2'. (1:23)"#,
        #"Unknown type 'Nope3'. (1:45)"#,
        #"Unknown type 'Nope4'. (1:69)"#,
        #"Unknown type 'Nope5'. (1:92)"#,
        #"Unknown type 'Nope6'. (1:114)"#,
      ]),
    RuleRow(
      #"type Query{a:I b(x:Query):Int} input I{a:Query b:Int}"#,
      [
        #"The type of Query.a must be Output Type but got: I. (1:14)"#,
        #"The type of Query.b(x:) must be Input Type but got: Query. (1:20)"#,
        #"The type of I.a must be Input Type but got: Query. (1:42)"#,
      ]),
    RuleRow(
      #"type Query{__a:Int b(__x:Int):Int} type __T{a:Int} enum E{__X} input I{__a:Int} directive @__d(__a:Int) on FIELD"#,
      [
        #"Name '__d' must not begin with '__', which is reserved by GraphQL introspection. (1:81)"#,
        #"Name '__a' must not begin with '__', which is reserved by GraphQL introspection. (1:96)"#,
        #"Name '__a' must not begin with '__', which is reserved by GraphQL introspection. (1:12)"#,
        #"Name '__x' must not begin with '__', which is reserved by GraphQL introspection. (1:22)"#,
        #"Name '__T' must not begin with '__', which is reserved by GraphQL introspection. (1:36)"#,
        #"Name '__X' must not begin with '__', which is reserved by GraphQL introspection. (1:59)"#,
        #"Name '__a' must not begin with '__', which is reserved by GraphQL introspection. (1:72)"#,
      ]),
    RuleRow(
      #"type Query enum E input I union U interface I2"#,
      [
        #"Type Query must define one or more fields. (1:1)"#,
        #"Enum type E must define one or more values. (1:12)"#,
        #"Input Object type I must define one or more fields. (1:19)"#,
        #"Union type U must define one or more member types. (1:27)"#,
        #"Type I2 must define one or more fields. (1:35)"#,
      ]),
    RuleRow(
      #"type Query{a:Int} enum E{A A B} extend enum E{B}"#,
      [
        #"Enum value 'E.A' can only be defined once. (1:26, 1:28)"#,
        #"Enum value 'E.B' can only be defined once. (1:30, 1:47)"#,
      ]),
    RuleRow(
      #"type Query{a:Int} union U = Query | Query | E enum E{A}"#,
      [
        #"Union type U can only include type Query once. (1:29, 1:37)"#,
        #"Union type U can only include Object types, it cannot include E. (1:45)"#,
      ]),
    RuleRow(
      #"type Query implements N & N & O & E{a:Int} interface N{a:Int} type O{a:Int} enum E{A}"#,
      [
        #"Type Query can only implement N once. (1:23, 1:27)"#,
        #"Type Query must only implement Interface types, it cannot implement O. (1:31)"#,
        #"Type Query must only implement Interface types, it cannot implement E. (1:35)"#,
      ]),
    RuleRow(
      #"interface N{id:ID! x(a:Int,b:Int!):N y:[N] z:Int!} type Query implements N{id:ID x(a:String,c:Int!):Query y:[Query!]! z:Int}"#,
      [
        #"Interface field N.id expects type ID! but Query.id is type ID. (1:16, 1:79)"#,
        #"Interface field argument N.x(a:) expects type Int but Query.x(a:) is type String. (1:24, 1:86)"#,
        #"Interface field argument N.x(b:) expected but Query.x does not provide it. (1:28, 1:82)"#,
        #"Argument 'Query.x(c:)' must not be required type 'Int!' if not provided by the Interface field 'N.x'. (1:93, 1:20)"#,
        #"Interface field N.z expects type Int! but Query.z is type Int. (1:46, 1:121)"#,
      ]),
    RuleRow(
      #"interface A implements B{a:Int} interface B implements A{a:Int} type Query{a:Int}"#,
      [
        #"Type A cannot implement B because it would create a circular reference. (1:56, 1:24)"#,
        #"Type B cannot implement A because it would create a circular reference. (1:24, 1:56)"#,
      ]),
    RuleRow(
      #"interface A implements A{a:Int} type Query implements A{a:Int}"#,
      [
        #"Type A cannot implement itself because it would create a circular reference. (1:24)"#
      ]),
    RuleRow(
      #"interface A{a:Int} interface B implements A{a:Int} type Query implements B{a:Int}"#,
      [
        #"Type Query must implement A because it is implemented by B. (1:43, 1:74)"#
      ]),
    RuleRow(
      #"type Query{a(i:I):Int} input I{i:I! j:J!} input J{k:[I!]! i:I!}"#,
      [
        #"Input Object I cannot be provided a finite value because it references itself through fields: I.i. (1:32)"#,
        #"Input Object I cannot be provided a finite value because it references itself through fields: I.j, J.i. (1:37, 1:59)"#,
      ]),
    RuleRow(
      #"type Query{a(i:I):Int} input I @oneOf {a:Int! b:Int=1 c:I}"#,
      [
        #"OneOf input field I.a must be nullable. (1:42)"#,
        #"OneOf input field I.b cannot have a default value. (1:47)"#,
      ]),
    RuleRow(
      #"type Query{a(i:I):Int} input I @oneOf {a:I}"#,
      [
        #"Input Object I cannot be provided a finite value because it references itself through fields: I.a. (1:40)"#
      ]),
    RuleRow(
      #"type Query{a(x:Int!@deprecated):Int} input I{a:Int! @deprecated b:Int!=1 @deprecated} directive @d(a:Int! @deprecated) on FIELD"#,
      [
        #"Required argument @d(a:) cannot be deprecated. (1:107, 1:102)"#,
        #"Required argument Query.a(x:) cannot be deprecated. (1:20, 1:16)"#,
        #"Required input field I.a cannot be deprecated. (1:53, 1:48)"#,
      ]),
    RuleRow(
      #"type Query{a(x:Int="x",e:E=Z):Int} input I{a:Int="s" b:I={}} enum E{A} directive @d(a:Int="x") on FIELD"#,
      [
        #"@d(a:) has invalid default value: Int cannot represent non-integer value: "x" (1:91)"#,
        #"Query.a(x:) has invalid default value: Int cannot represent non-integer value: "x" (1:20)"#,
        #"Query.a(e:) has invalid default value: Value 'Z' does not exist in 'E' enum. Did you mean the enum value 'A'? (1:28)"#,
        #"I.a has invalid default value: Int cannot represent non-integer value: "s" (1:50)"#,
        #"Invalid circular reference. The default value of Input Object field I.b references itself. (1:58)"#,
      ]),
    RuleRow(
      #"type Query @nope{a:Int @skip(if:true)} directive @d on OBJECT type X @d @d @deprecated {a:Int}"#,
      [
        #"Unknown directive '@nope'. (1:12)"#,
        #"Directive '@skip' may not be used on field definition. (1:24)"#,
        #"Directive '@deprecated' may not be used on object. (1:76)"#,
        #"The directive '@d' can only be used once at this location. (1:70, 1:73)"#,
      ]),
    RuleRow(
      #"type Query @d(b:1,a:1,a:2) {a:Int @d} directive @d(a:Int!) on OBJECT | FIELD_DEFINITION"#,
      [
        #"There can be only one argument named 'a'. (1:19, 1:23)"#,
        #"Unknown argument 'b' on directive '@d'. Did you mean 'a'? (1:15)"#,
        #"Argument '@d(a:)' of type 'Int!' is required, but it was not provided. (1:35)"#,
      ]),
    RuleRow(
      #"directive @d on FIELD directive @d on QUERY directive @skip on FIELD type Query{a:Int}"#,
      [
        #"There can be only one directive named '@d'. (1:12, 1:34)"#
      ]),
    RuleRow(
      #"extend type Foo{a:Int} type Query{a:Int} extend input Query{a:Int} extend scalar E @x enum E{A}"#,
      [
        #"Field 'Query.a' can only be defined once. (1:35, 1:61)"#,
        #"Cannot extend type 'Foo' because it is not defined. (1:13)"#,
        #"Cannot extend non-input object type 'Query'. (1:24, 1:42)"#,
        #"Cannot extend non-scalar type 'E'. (1:87, 1:68)"#,
        #"Unknown directive '@x'. (1:84)"#,
      ]),
    RuleRow(
      #"directive @d(a:Int @d) on ARGUMENT_DEFINITION type Query{a:Int}"#,
      [
        #"Directive @d cannot reference itself. (1:1)"#
      ]),
    RuleRow(
      #"directive @d(a:I) on INPUT_FIELD_DEFINITION input I{a:Int @d} type Query{a:Int}"#,
      [
        #"Directive @d cannot reference itself. (1:1)"#
      ]),
    RuleRow(
      #"type Query{a:Int @d(x:{a:1,a:2})} directive @d(x:I) on FIELD_DEFINITION input I{a:Int}"#,
      [
        #"There can be only one input field named 'a'. (1:24, 1:28)"#
      ]),
    RuleRow(
      #"type Query{a:Int} type Mutation{a:Int} input Subscription{a:Int}"#,
      [
        #"Subscription root type must be Object type if provided, it cannot be Subscription. (1:40)"#
      ]),
    RuleRow(
      #"type Query{a(x:I={a:{b:1}}):Int} input I{a:I={}}"#,
      [
        #"Query.a(x:) has invalid default value at .a: Expected value of type 'I' not to include unknown field 'b'. Did you mean 'a'? Found: { b: 1 }. (1:22)"#,
        #"Invalid circular reference. The default value of Input Object field I.a references itself. (1:46)"#,
      ]),
    RuleRow(
      #"directive @d() on FIELD"#,
      [
        #"Syntax Error: Expected Name, found ')'. (1:14)"#
      ]),
    RuleRow(
      #"enum E{A} type Query{a(e:E="A",f:[E!]=A,g:[Int]=[1,"x"]):E @deprecated(reason:1)}"#,
      [
        #"Argument '@deprecated(reason:)' has invalid value: String cannot represent a non string value: 1 (1:79)"#,
        #"Query.a(e:) has invalid default value: Enum 'E' cannot represent non-enum value: "A". Did you mean the enum value 'A'? (1:28)"#,
        #"Query.a(g:) has invalid default value at [1]: Int cannot represent non-integer value: "x" (1:52)"#,
      ]),
    RuleRow(
      #"type Query{a:Int} scalar S @specifiedBy(url:1)"#,
      [
        #"Argument '@specifiedBy(url:)' has invalid value: String cannot represent a non string value: 1 (1:45)"#
      ]),
    RuleRow(
      #"interface N{x:Int} type Query implements N{y:Int}"#,
      [
        #"Interface field N.x expected but Query does not provide it. (1:13, 1:20)"#
      ]),
    RuleRow(
      #"interface N{x:Int} type Query implements N{x(a:Int!):Int @deprecated}"#,
      [
        #"Argument 'Query.x(a:)' must not be required type 'Int!' if not provided by the Interface field 'N.x'. (1:46, 1:13)"#,
        #"Interface field N.x is not deprecated, so implementation field Query.x must not be deprecated. (1:58, 1:54)"#,
      ]),
    RuleRow(
      #"input I{a:I={a:null} b:J={}} input J{c:I={}} type Query{a:Int}"#,
      [
        #"Invalid circular reference. The default value of Input Object field I.a references itself via the default values of: I.b, J.c. (1:13, 1:26, 1:42)"#,
        #"Invalid circular reference. The default value of Input Object field I.b references itself via the default values of: J.c. (1:26, 1:42)"#,
      ]),
    RuleRow(
      #"type Query{a(i:I={}):Int} input I @oneOf{a:Int b:Int}"#,
      [
        #"Query.a(i:) has invalid default value: Within OneOf Input Object type 'I', exactly one field must be specified, and the value for that field must be non-null. (1:18)"#
      ]),
    RuleRow(
      #"extend schema @d"#,
      [
        #"Unknown directive '@d'. (1:15)"#
      ]),
    RuleRow(
      #"type Query{a:Int} extend schema{mutation:Query}"#,
      [
        #"All root types must be different, 'Query' type is used as query and mutation root types. (1:42)"#
      ]),
  ]
}
