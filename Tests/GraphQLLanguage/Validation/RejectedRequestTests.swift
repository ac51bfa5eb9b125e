import MartletGraphQLLanguage
import Testing

/// What a request must look like to be rejected, by which rule, and where: each row is a document and its errors as the
/// rule followed by its places.
@Suite struct `Validation rejects` {
  @Test(arguments: rows)
  func `with rule and places`(row: RuleRow) throws {
    #expect(try RuleRow.errors(of: row.document) == row.errors)
  }

  @Test func `every rule appears in the table`() {
    let seen = Set(Self.rows.flatMap(\.errors).map { String($0.prefix { $0 != " " }) })
    let limits: Set<String> = ["KnownOperationTypes", "ValidationLimits"]
    let optional = Set(IncrementalRuleTests.rows.flatMap(\.errors).map { String($0.prefix { $0 != " " }) })
    #expect(Set(ValidationRule.allCases.map(\.rawValue)).subtracting(seen).subtracting(optional) == limits)
  }

  static let rows: [RuleRow] = [
    RuleRow(
      #"subscription { ...F } fragment F on A { x }"#,
      ["PossibleFragmentSpreads 1:16", "SingleFieldSubscriptions 1:14"]),
    RuleRow(
      #"subscription { s @include(if: true) @skip(if: true) }"#,
      ["SingleFieldSubscriptions 1:37"]),
    RuleRow(
      #"type X {a:Int} {a{x}} extend type Y {b:Int}"#,
      ["ExecutableDefinitions 1:1", "ExecutableDefinitions 1:23"]),
    RuleRow(
      #"mutation{m} subscription{s}"#,
      ["LoneAnonymousOperation 1:1", "LoneAnonymousOperation 1:13"]),
    RuleRow(
      #"query A{a{x}} query A{b{y}} query A{b{y}}"#,
      ["UniqueOperationNames 1:7 1:21", "UniqueOperationNames 1:7 1:35"]),
    RuleRow(
      #"{a{x}} query B{b{y}}"#,
      ["LoneAnonymousOperation 1:1"]),
    RuleRow(
      #"subscription S{s t{x}}"#,
      ["SingleFieldSubscriptions 1:18"]),
    RuleRow(
      #"subscription {s ...F} fragment F on Subscription {t{x} ...F}"#,
      ["NoFragmentCycles 1:56", "SingleFieldSubscriptions 1:51"]),
    RuleRow(
      #"subscription {s @skip(if:true)}"#,
      ["SingleFieldSubscriptions 1:17"]),
    RuleRow(
      #"subscription {... @include(if:true){s} }"#,
      ["SingleFieldSubscriptions 1:19"]),
    RuleRow(
      #"subscription S {...F @skip(if:true)} fragment F on Subscription {s @include(if:true)}"#,
      ["SingleFieldSubscriptions 1:22"]),
    RuleRow(
      #"subscription {__typename}"#,
      ["SingleFieldSubscriptions 1:15"]),
    RuleRow(
      #"subscription {s a:__typename}"#,
      ["SingleFieldSubscriptions 1:17"]),
    RuleRow(
      #"subscription {a:s b:s @include(if:true)}"#,
      ["SingleFieldSubscriptions 1:23"]),
    RuleRow(
      #"query($a:Foo,$b:[Bar!]){a{... on Baz{x} ...F}} fragment F on Quux{x}"#,
      [
        "KnownTypeNames 1:10", "KnownTypeNames 1:18", "KnownTypeNames 1:34", "KnownTypeNames 1:62",
        "NoUnusedVariables 1:14", "NoUnusedVariables 1:7",
      ]),
    RuleRow(
      #"{a{...on Int{x}}} fragment F on In {a}"#,
      ["FragmentsOnCompositeTypes 1:10", "FragmentsOnCompositeTypes 1:33", "NoUnusedFragments 1:19"]),
    RuleRow(
      #"query($a:A,$b:[U!]!,$c:Int){a{x}}"#,
      [
        "NoUnusedVariables 1:12", "NoUnusedVariables 1:21", "NoUnusedVariables 1:7", "VariablesAreInputTypes 1:10",
        "VariablesAreInputTypes 1:15",
      ]),
    RuleRow(
      #"{a b{y{z}} u{x}}"#,
      ["FieldsOnCorrectType 1:14", "ScalarLeafs 1:2", "ScalarLeafs 1:7"]),
    RuleRow(
      #"{a{zz nam} u{y id} n{x name} b{zzz}}"#,
      [
        "FieldsOnCorrectType 1:14", "FieldsOnCorrectType 1:16", "FieldsOnCorrectType 1:22", "FieldsOnCorrectType 1:24",
        "FieldsOnCorrectType 1:32", "FieldsOnCorrectType 1:4", "FieldsOnCorrectType 1:7",
      ]),
    RuleRow(
      #"fragment F on A{x} fragment F on A{id}"#,
      ["NoUnusedFragments 1:1", "NoUnusedFragments 1:20", "UniqueFragmentNames 1:10 1:29"]),
    RuleRow(
      #"{a{...Nope}}"#,
      ["KnownFragmentNames 1:7"]),
    RuleRow(
      #"{a{x}} fragment F on A{...G} fragment G on A{x}"#,
      ["NoUnusedFragments 1:30", "NoUnusedFragments 1:8"]),
    RuleRow(
      #"{b{...on A{x}} a{...on Node{id} ...on U{...on B{y}}} ...F} fragment F on Mutation{m}"#,
      ["PossibleFragmentSpreads 1:4", "PossibleFragmentSpreads 1:54"]),
    RuleRow(
      #"{a{...F}} fragment F on A{...G x} fragment G on A{...H ...F} fragment H on A {...H}"#,
      ["NoFragmentCycles 1:27 1:56", "NoFragmentCycles 1:79"]),
    RuleRow(
      #"query($a:Int,$a:Int,$b:Int,$a:Int){a{name(a:$a,b:$b)}}"#,
      ["UniqueVariableNames 1:8 1:15 1:29"]),
    RuleRow(
      #"query Q{a{name(a:$x) ...F}} fragment F on A{name(b:$y)} query R($y:Int){a{...F}}"#,
      ["NoUndefinedVariables 1:18 1:1", "NoUndefinedVariables 1:52 1:1", "OverlappingFieldsCanBeMerged 1:11 1:45"]),
    RuleRow(
      #"{a{name(a:$x)}}"#,
      ["NoUndefinedVariables 1:11 1:1"]),
    RuleRow(
      #"query Q($a:Int,$b:Int){a{x}} query ($c:Int) {a{x}}"#,
      ["LoneAnonymousOperation 1:30", "NoUnusedVariables 1:16", "NoUnusedVariables 1:37", "NoUnusedVariables 1:9"]),
    RuleRow(
      #"{a{x @nope @skip}} query Q @skip(if:true) @f {a @v{x}}"#,
      [
        "KnownDirectives 1:28", "KnownDirectives 1:43", "KnownDirectives 1:49", "KnownDirectives 1:6",
        "LoneAnonymousOperation 1:1", "ProvidedRequiredArguments 1:12",
      ]),
    RuleRow(
      #"query($v:Int @f @v){a{name(a:$v)}} fragment F on A @f {x}"#,
      ["KnownDirectives 1:14", "KnownDirectives 1:52", "NoUnusedFragments 1:36"]),
    RuleRow(
      #"{a{x @f @f @f @rep @rep}}"#,
      ["UniqueDirectivesPerLocation 1:6 1:12", "UniqueDirectivesPerLocation 1:6 1:9"]),
    RuleRow(
      #"{a{x @f(b:1,aa:2) name(c:1,aa:2)}}"#,
      ["KnownArgumentNames 1:13", "KnownArgumentNames 1:24", "KnownArgumentNames 1:28", "KnownArgumentNames 1:9"]),
    RuleRow(
      #"{a{name(a:1,a:2,a:3,b:1)}}"#,
      ["UniqueArgumentNames 1:9 1:13 1:17"]),
    RuleRow(
      #"{a{inp(i:{a:1,a:2,b:1,a:3}){x}}}"#,
      ["UniqueInputFieldNames 1:11 1:15", "UniqueInputFieldNames 1:11 1:23"]),
    RuleRow(
      #"{a{req x @skip} } query Q @q {a{req(a:1) req(a:null)}}"#,
      [
        "LoneAnonymousOperation 1:1", "OverlappingFieldsCanBeMerged 1:33 1:42", "ProvidedRequiredArguments 1:10",
        "ProvidedRequiredArguments 1:27", "ProvidedRequiredArguments 1:4", "ValuesOfCorrectType 1:48",
      ]),
    RuleRow(
      #"{a{inp(i:{}){x}}}"#,
      ["ValuesOfCorrectType 1:10"]),
    RuleRow(
      #"{a{inp(i:{a:null,z:1,dd:X,d:Z,bb:1}){x}}}"#,
      [
        "ValuesOfCorrectType 1:13", "ValuesOfCorrectType 1:18", "ValuesOfCorrectType 1:22", "ValuesOfCorrectType 1:29",
        "ValuesOfCorrectType 1:31",
      ]),
    RuleRow(
      #"{a{inp(i:[1],o:{},e:"X",l:["a",1,[1]],ll:[1,[1,"x"]],s:1,f:"x",id:1.5,b:1,c:{a:1}){x}}}"#,
      [
        "ValuesOfCorrectType 1:10", "ValuesOfCorrectType 1:16", "ValuesOfCorrectType 1:21", "ValuesOfCorrectType 1:28",
        "ValuesOfCorrectType 1:34", "ValuesOfCorrectType 1:48", "ValuesOfCorrectType 1:56", "ValuesOfCorrectType 1:60",
        "ValuesOfCorrectType 1:67", "ValuesOfCorrectType 1:73",
      ]),
    RuleRow(
      #"{a{inp(o:{a:1,b:"x"}){x}}}"#,
      ["ValuesOfCorrectType 1:10"]),
    RuleRow(
      #"{a{inp(o:{a:null}){x}}}"#,
      ["ValuesOfCorrectType 1:10"]),
    RuleRow(
      #"query($a:Int,$b:Int!){a{inp(o:{a:$a}){x} y:inp(o:{a:$b,b:"x"}){x}}}"#,
      ["ValuesOfCorrectType 1:50", "VariablesInAllowedPosition 1:7 1:34"]),
    RuleRow(
      #"{a{inp(f:1,id:"x",s:"y",l:1,ll:[[1]],e:X,c:1) {x} y:inp(e:Z,i:1,s:X,f:X,b:X,id:X) {x} z:inp(e:1,o:X,l:X) {x}}}"#,
      [
        "ValuesOfCorrectType 1:103", "ValuesOfCorrectType 1:59", "ValuesOfCorrectType 1:63", "ValuesOfCorrectType 1:67",
        "ValuesOfCorrectType 1:71", "ValuesOfCorrectType 1:75", "ValuesOfCorrectType 1:80", "ValuesOfCorrectType 1:95",
        "ValuesOfCorrectType 1:99",
      ]),
    RuleRow(
      #"{a{name(a:2147483648,b:1.0)}}"#,
      ["ValuesOfCorrectType 1:11", "ValuesOfCorrectType 1:24"]),
    RuleRow(
      #"query($a:Int,$b:String,$c:[Int],$d:Int=1,$e:Int=null){a{req(a:$a,b:$a) name(a:$b) inp(l:$a,i:{a:$d}){x} y:inp(i:{a:$e,b:$c}){x} z:inp(l:[$b]) {x}}}"#,
      [
        "VariablesInAllowedPosition 1:14 1:138", "VariablesInAllowedPosition 1:14 1:79",
        "VariablesInAllowedPosition 1:24 1:121", "VariablesInAllowedPosition 1:42 1:116",
        "VariablesInAllowedPosition 1:7 1:63", "VariablesInAllowedPosition 1:7 1:89",
      ]),
    RuleRow(
      #"query($a:Int="x",$b:In={},$c:E=Q,$d:Int!=null){a{x}}"#,
      [
        "NoUnusedVariables 1:18", "NoUnusedVariables 1:27", "NoUnusedVariables 1:34", "NoUnusedVariables 1:7",
        "ValuesOfCorrectType 1:14", "ValuesOfCorrectType 1:24", "ValuesOfCorrectType 1:32", "ValuesOfCorrectType 1:42",
      ]),
    RuleRow(
      #"{a{x x:id y:name(a:1) y:name(a:2) z:x z:req(a:1)}}"#,
      [
        "OverlappingFieldsCanBeMerged 1:11 1:23", "OverlappingFieldsCanBeMerged 1:35 1:39",
        "OverlappingFieldsCanBeMerged 1:4 1:6",
      ]),
    RuleRow(
      #"{u{...on A{x} ...on B{x}}}"#,
      ["OverlappingFieldsCanBeMerged 1:12 1:23"]),
    RuleRow(
      #"{u{...on A{l} ...on B{l}}}"#,
      ["OverlappingFieldsCanBeMerged 1:12 1:23"]),
    RuleRow(
      #"{a{x} a:b{y}}"#,
      ["OverlappingFieldsCanBeMerged 1:2 1:7"]),
    RuleRow(
      #"{a{other{id} other{id:__typename}}}"#,
      ["OverlappingFieldsCanBeMerged 1:4 1:10 1:14 1:20"]),
    RuleRow(
      #"{a{other{a:id b:id} other{a:__typename b:__typename}}}"#,
      ["OverlappingFieldsCanBeMerged 1:4 1:10 1:15 1:21 1:27 1:40"]),
    RuleRow(
      #"{u{...on A{other{id}} ...on B{other:a{id:x}}}}"#,
      ["OverlappingFieldsCanBeMerged 1:12 1:18 1:31 1:39"]),
    RuleRow(
      #"{a{...F ...G}} fragment F on A{z:x} fragment G on A{z:id}"#,
      ["OverlappingFieldsCanBeMerged 1:32 1:53"]),
    RuleRow(
      #"{__schema{types{name fields{name type{name fields{name type{fields{name}}}}}}} __type(name:"A"){fields{type{fields{type{fields{name}}}}}}}"#,
      ["MaxIntrospectionDepth 1:2", "MaxIntrospectionDepth 1:80"]),
    RuleRow(
      #"query($a:Int!=1){a{name(a:$a) x @skip(if:$a)}}"#,
      ["VariablesInAllowedPosition 1:7 1:42"]),
    RuleRow(
      #"mutation{m} query{a{x}} subscription {s}"#,
      ["LoneAnonymousOperation 1:1", "LoneAnonymousOperation 1:13", "LoneAnonymousOperation 1:25"]),
    RuleRow(
      #"{a{x}} {b{y}}"#,
      ["LoneAnonymousOperation 1:1", "LoneAnonymousOperation 1:8"]),
    RuleRow(
      #"{a{inp(i:$u){x}}}"#,
      ["NoUndefinedVariables 1:10 1:1"]),
    RuleRow(
      #"{a{inp(i:{a:1,i:{b:2}}){x}}}"#,
      ["ValuesOfCorrectType 1:17"]),
    RuleRow(
      #"{a{inp(i:{a:1,c:{a:1},d:X,d:Y}){x}}}"#,
      ["UniqueInputFieldNames 1:23 1:27"]),
    RuleRow(
      #"{a{inp(i:{a:1,c:[{a:"x"},null]}){x}}}"#,
      ["ValuesOfCorrectType 1:21", "ValuesOfCorrectType 1:26"]),
    RuleRow(
      #"subscription {s @skip(if:false) t @include(if:true) {x}}"#,
      ["SingleFieldSubscriptions 1:17 1:35"]),
    RuleRow(
      #"subscription($v:Boolean!) {s @skip(if:$v) ...F @include(if:true)} fragment F on Subscription {t @include(if:$v){x}}"#,
      ["SingleFieldSubscriptions 1:30 1:48"]),
    RuleRow(
      #"subscription {...F} fragment F on Subscription {s @include(if:true)}"#,
      ["SingleFieldSubscriptions 1:51"]),
    RuleRow(
      #"subscription {...F @include(if:false) ...on Subscription @skip(if:false) {t @skip(if:true){x}} s}"#,
      ["KnownFragmentNames 1:18", "SingleFieldSubscriptions 1:20 1:58"]),
    RuleRow(
      #"subscription {s s t{x} t{id} __typename}"#,
      ["SingleFieldSubscriptions 1:19 1:24 1:30", "SingleFieldSubscriptions 1:30"]),
    RuleRow(
      #"subscription {... on Mutation{s} t{x} ...G ...G} fragment G on Subscription {s}"#,
      ["FieldsOnCorrectType 1:31", "PossibleFragmentSpreads 1:15", "SingleFieldSubscriptions 1:78"]),
    RuleRow(
      #"subscription {nope s}"#,
      ["FieldsOnCorrectType 1:15", "SingleFieldSubscriptions 1:20"]),
    RuleRow(
      #"{a{inp(f:1e999){x}}}"#,
      ["ValuesOfCorrectType 1:10"]),
    RuleRow(
      #"{a{inp(l:[[1]]){x}}}"#,
      ["ValuesOfCorrectType 1:11"]),
    RuleRow(
      #"{a{inp(ll:1){x} y:inp(ll:"x"){x} z:inp(i:{a:1,c:{a:"x"}}) {x} w:inp(i:{a:1,c:5}){x} }}"#,
      ["ValuesOfCorrectType 1:26", "ValuesOfCorrectType 1:52", "ValuesOfCorrectType 1:78"]),
    RuleRow(
      #"{a{inp(l:{a:1}){x} y:inp(s:{a:1}){x} z:inp(e:[X]) {x} w:inp(c:[X,$v]){x} c:inp(c:{a:$v}){x}}}"#,
      [
        "NoUndefinedVariables 1:66 1:1", "NoUndefinedVariables 1:85 1:1", "ValuesOfCorrectType 1:10",
        "ValuesOfCorrectType 1:28", "ValuesOfCorrectType 1:46",
      ]),
    RuleRow(
      #"query($v:[Int]=5,$w:[Int!]=[null],$z:[[Int]]=[1,null]){a{inp(l:$v,ll:$z){x}}}"#,
      ["NoUnusedVariables 1:18", "ValuesOfCorrectType 1:29"]),
    RuleRow(
      #"{a{...F x:id}} fragment F on A{x ...G} fragment G on A{x:l}"#,
      [
        "OverlappingFieldsCanBeMerged 1:32 1:56", "OverlappingFieldsCanBeMerged 1:9 1:32",
        "OverlappingFieldsCanBeMerged 1:9 1:56",
      ]),
    RuleRow(
      #"{a{...F ...G}} fragment F on A{...G x} fragment G on A{x:id ...F}"#,
      [
        "NoFragmentCycles 1:32 1:61", "OverlappingFieldsCanBeMerged 1:37 1:56",
        "OverlappingFieldsCanBeMerged 1:56 1:37",
      ]),
    RuleRow(
      #"{a{x x x:id x:l}}"#,
      [
        "OverlappingFieldsCanBeMerged 1:4 1:13", "OverlappingFieldsCanBeMerged 1:4 1:8",
        "OverlappingFieldsCanBeMerged 1:6 1:13", "OverlappingFieldsCanBeMerged 1:6 1:8",
        "OverlappingFieldsCanBeMerged 1:8 1:13",
      ]),
    RuleRow(
      #"{u{...on A{z:__typename} ...on B{z:y}}}"#,
      ["OverlappingFieldsCanBeMerged 1:12 1:34"]),
    RuleRow(
      #"{nope{x y} nope{x:z}}"#,
      ["FieldsOnCorrectType 1:12", "FieldsOnCorrectType 1:2", "OverlappingFieldsCanBeMerged 1:2 1:7 1:12 1:17"]),
    RuleRow(
      #"{a{nope{x} nope{x:z}}}"#,
      ["FieldsOnCorrectType 1:12", "FieldsOnCorrectType 1:4", "OverlappingFieldsCanBeMerged 1:4 1:9 1:12 1:17"]),
    RuleRow(
      #"{a{other{...F} other{...G}}} fragment F on Node{q:id} fragment G on Node{q:__typename}"#,
      ["OverlappingFieldsCanBeMerged 1:4 1:49 1:16 1:74"]),
    RuleRow(
      #""d" query Q("v" $a:Int){a{x}}"#,
      ["NoUnusedVariables 1:13"]),
    RuleRow(
      #"{a{x}} "d" fragment F on A {x}"#,
      ["NoUnusedFragments 1:8"]),
    RuleRow(
      #"{a{x} __typename{a}}"#,
      ["ScalarLeafs 1:17"]),
    RuleRow(
      #"{__type{name} b{__schema{types{name}}}}"#,
      ["FieldsOnCorrectType 1:17", "ProvidedRequiredArguments 1:2"]),
    RuleRow(
      #"query($a:Int){a{inp(l:[$a],i:{a:$a}){x}}}"#,
      ["VariablesInAllowedPosition 1:7 1:33"]),
    RuleRow(
      #"query Q($b:Boolean){a{x @skip(if:$b)}}"#,
      ["VariablesInAllowedPosition 1:9 1:34"]),
    RuleRow(
      #"fragment F on Nope{x{y(a:$q)}}"#,
      ["KnownTypeNames 1:15", "NoUnusedFragments 1:1"]),
    RuleRow(
      #"mutation Q{m(a:1)}"#,
      ["KnownArgumentNames 1:14"]),
    RuleRow(
      #"{a{x(a:1)}}"#,
      ["KnownArgumentNames 1:6"]),
    RuleRow(
      #"{zzz(a:$x){y}}"#,
      ["FieldsOnCorrectType 1:2", "NoUndefinedVariables 1:8 1:1"]),
  ]
}
