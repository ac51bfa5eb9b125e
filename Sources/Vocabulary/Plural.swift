/// English plurals by the rules of `pluralize` 8, which Amplify's transformer uses: an application that moves from
/// AppSync keeps the names of its list queries, odd ones included.
enum Plural {
  /// The plural of a type's name: `Flight` gives `Flights`, `Leaf` gives `Leaves`, `Settings` stays.
  static func of(_ word: String) -> String {
    let token = word.lowercased()
    if irregularPlurals.contains(token) { return word }
    if let plural = irregular[token] { return restoreCase(word, plural) }
    if uncountable.contains(token) { return word }
    let text = Array(token.unicodeScalars)
    for rule in rules {
      guard let (matched, replacement) = rule(text) else { continue }
      let kept = word.unicodeScalars.dropLast(matched)
      let end = String(String.UnicodeScalarView(word.unicodeScalars.suffix(matched)))
      // An ending that is only added takes the case of the letter before it.
      let pattern = matched == 0 ? String(word.unicodeScalars.suffix(1)) : end
      return String(String.UnicodeScalarView(kept)) + restoreCase(pattern, replacement)
    }
    return word
  }

  /// `text` in lower case, with the case that `pattern` has.
  private static func restoreCase(_ pattern: String, _ text: String) -> String {
    if pattern == text || pattern == pattern.lowercased() { return text }
    if pattern == pattern.uppercased() { return text.uppercased() }
    if let first = pattern.first, String(first) == first.uppercased() {
      return text.prefix(1).uppercased() + text.dropFirst()
    }
    return text
  }

  // MARK: Rules

  /// Takes a word in lower case; gives how many scalars of its end are replaced, and by what. Nil when it does not
  /// apply.
  private typealias Rule = @Sendable ([Unicode.Scalar]) -> (Int, String)?

  /// The first that applies decides.
  private static let rules: [Rule] = [
    unchanged("sheep", "pox", "ois", "ous", "measles", "fish", "deer", "pokemon", "pokémon", "eaux"),
    { $0.count > 3 && ends($0, "ese") && !isVowel($0[$0.count - 4]) ? (0, "") : nil },
    replaced(("man", "men"), ("men", "men"), ("children", "children"), ("child", "children")),
    replaced(("person", "people"), ("people", "people")),
    whole(("mouse", "mice"), ("mice", "mice"), ("louse", "lice"), ("lice", "lice"), ("titmouse", "titmice")),
    stems(["matr", "cod", "mur", "sil", "vert", "ind", "append"], ["ix", "ex"], "ices"),
    added("es", to: "x", "ch", "ss", "sh", "zz"),
    { ends($0, "ey") && isShortEy($0.dropLast(2)) ? (2, "ies") : nil },
    consonantY,
    replaced(("knife", "knives"), ("wife", "wives"), ("life", "lives")),
    replaced(
      ("arf", "arves"), ("lf", "lves"), ("eaf", "eaves"), ("eof", "eoves"), ("oaf", "oaves"), ("hoof", "hooves")),
    replaced(("sis", "ses")),
    stems(
      [
        "apheli", "hyperbat", "periheli", "asyndet", "noumen", "phenomen", "criteri", "organ", "prolegomen", "hedr",
        "automat",
      ], ["on", "a"], "a"),
    stems(
      [
        "agend", "addend", "millenni", "dat", "extrem", "bacteri", "desiderat", "strat", "candelabr", "errat", "ov",
        "symposi", "curricul", "automat", "quor",
      ], ["um", "a"], "a"),
    added("es", to: "hero", "ato", "gro"),
    replaced(("seraphim", "seraphim"), ("seraph", "seraphim"), ("cherubim", "cherubim"), ("cherub", "cherubim")),
    stems(["alumn", "alg", "vertebr"], ["ae", "a"], "ae"),
    stems(
      [
        "alumn", "syllab", "vir", "radi", "nucle", "fung", "cact", "stimul", "termin", "bacill", "foc", "uter", "loc",
        "strat",
      ], ["us", "i"], "i"),
    alreadyPlural,
    replaced(("emus", "emus"), ("enus", "enus"), ("emu", "emus"), ("enu", "enus")),
    added("es", to: "alias", "tlas", "tmas", "gas", "ris"),
    { $0.count > 2 && ends($0, "us") && !"aou".unicodeScalars.contains($0[$0.count - 3]) ? (0, "es") : nil },
    replaced(("axis", "axes"), ("testis", "testes")),
    { $0.last?.isASCII == false ? (0, "") : nil },
    unchanged("s"),
    { _ in (0, "s") },
  ]

  private static func unchanged(_ endings: String...) -> Rule {
    { text in endings.contains { ends(text, $0) } ? (0, "") : nil }
  }

  private static func added(_ letters: String, to endings: String...) -> Rule {
    { text in endings.contains { ends(text, $0) } ? (0, letters) : nil }
  }

  private static func replaced(_ pairs: (String, String)...) -> Rule {
    { text in pairs.first { ends(text, $0.0) }.map { ($0.0.unicodeScalars.count, $0.1) } }
  }

  private static func whole(_ pairs: (String, String)...) -> Rule {
    { text in pairs.first { Array($0.0.unicodeScalars) == text }.map { (text.count, $0.1) } }
  }

  /// One of the stems with one of the endings, which is replaced.
  private static func stems(_ stems: [String], _ endings: [String], _ plural: String) -> Rule {
    { text in
      for ending in endings where stems.contains(where: { ends(text, $0 + ending) }) {
        return (ending.unicodeScalars.count, plural)
      }
      return nil
    }
  }

  private static let consonantY: Rule = { text in
    guard ends(text, "y"), text.count > 1 else { return nil }
    let before = text[text.count - 2]
    return ends(text, "quy") || !(isVowel(before) || before == "y") ? (1, "ies") : nil
  }

  /// `money` and the like: not after c or h, then i, e or o, then l or n.
  private static func isShortEy(_ stem: ArraySlice<Unicode.Scalar>) -> Bool {
    let end = Array(stem.suffix(3))
    return end.count == 3 && !"ch".unicodeScalars.contains(end[0]) && "ieo".unicodeScalars.contains(end[1])
      && "ln".unicodeScalars.contains(end[2])
  }

  /// Endings in -as and -am that stay: `Christmas` does not, `Kansas` does.
  private static let alreadyPlural: Rule = { text in
    guard text.count > 2 else { return nil }
    let third = text[text.count - 3]
    if ends(text, "as"), "ejzr".unicodeScalars.contains(third) { return (0, "") }
    if ends(text, "iam") || ends(text, "uam") { return (0, "") }
    guard text.count > 3 else { return nil }
    let fourth = text[text.count - 4]
    if ends(text, "ias"), fourth != "l" { return (0, "") }
    return ends(text, "las") && isVowel(fourth) ? (0, "") : nil
  }

  private static func ends(_ text: [Unicode.Scalar], _ ending: String) -> Bool {
    text.suffix(ending.unicodeScalars.count).elementsEqual(ending.unicodeScalars)
  }

  private static func isVowel(_ letter: Unicode.Scalar) -> Bool { "aeiou".unicodeScalars.contains(letter) }

  // MARK: Words

  private static let irregular: [String: String] = [
    "i": "we", "me": "us", "he": "they", "she": "they", "them": "them", "myself": "ourselves",
    "yourself": "yourselves", "itself": "themselves", "herself": "themselves", "himself": "themselves",
    "themself": "themselves", "is": "are", "was": "were", "has": "have", "this": "these", "that": "those",
    "my": "our", "its": "their", "his": "their", "her": "their",
    "echo": "echoes", "dingo": "dingoes", "volcano": "volcanoes", "tornado": "tornadoes", "torpedo": "torpedoes",
    "genus": "genera", "viscus": "viscera",
    "stigma": "stigmata", "stoma": "stomata", "dogma": "dogmata", "lemma": "lemmata", "schema": "schemata",
    "anathema": "anathemata",
    "ox": "oxen", "axe": "axes", "die": "dice", "yes": "yeses", "foot": "feet", "eave": "eaves", "goose": "geese",
    "tooth": "teeth", "quiz": "quizzes", "human": "humans", "proof": "proofs", "carve": "carves", "valve": "valves",
    "looey": "looies", "thief": "thieves", "groove": "grooves", "pickaxe": "pickaxes", "passerby": "passersby",
    "canvas": "canvases", "thou": "you",
  ]
  private static let irregularPlurals = Set(irregular.values)

  private static let uncountable: Set<String> = [
    "adulthood", "advice", "agenda", "aid", "aircraft", "alcohol", "ammo", "analytics", "anime", "athletics", "audio",
    "bison", "blood", "bream", "buffalo", "butter", "carp", "cash", "chassis", "chess", "clothing", "cod", "commerce",
    "cooperation", "corps", "debris", "diabetes", "digestion", "elk", "energy", "equipment", "excretion", "expertise",
    "firmware", "flounder", "fun", "gallows", "garbage", "graffiti", "hardware", "headquarters", "health", "herpes",
    "highjinks", "homework", "housework", "information", "jeans", "justice", "kudos", "labour", "literature",
    "machinery", "mackerel", "mail", "media", "mews", "moose", "music", "mud", "manga", "news", "only", "personnel",
    "pike", "plankton", "pliers", "police", "pollution", "premises", "rain", "research", "rice", "salmon", "scissors",
    "series", "sewage", "shambles", "shrimp", "software", "staff", "swine", "tennis", "traffic", "transportation",
    "trout", "tuna", "wealth", "welfare", "whiting", "wildebeest", "wildlife", "you",
  ]
}
