import MartletVocabulary
import Testing

/// Plurals by the rules that Amplify's transformer uses.
struct PluralTests {
  @Test func `plurals of types' names are those of Amplify's transformer`() {
    let rows = Self.table.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    #expect(rows.count >= 200)
    for row in rows where row.count == 2 { #expect(ModelNames.plural(row[0]) == row[1], "\(row[0])") }
    #expect(rows.allSatisfy { $0.count == 2 })
  }

  @Test func `any text has a plural`() {
    for text in ["", "s", "y", "ey", "us", "as", "é", "Z", "_", "ese", "man"] { _ = ModelNames.plural(text) }
    #expect(ModelNames.plural("leaf") == "leaves")
    #expect(ModelNames.plural("orderItem") == "orderItems")
  }

  private static let table = """
    Human Humans, Setting Settings, Settings Settings, PostTag PostTags, PostTags PostTags, Hero Heroes, Leaf Leaves,
    Flight Flights, City Cities, Bus Buses, Person People, BoardPerson BoardPeople, People People, Child Children,
    Children Children, Man Men, Woman Women, Women Women, Mouse Mice, ComputerMouse ComputerMouses, Louse Lice,
    House Houses, Foot Feet, Tooth Teeth, Goose Geese, Ox Oxen, Box Boxes, Fox Foxes, Tax Taxes, Axe Axes, Axis Axes,
    Testis Testes, Crisis Crises, Analysis Analyses, Basis Bases, Thesis Theses, Hypothesis Hypotheses,
    Synopsis Synopses, Diagnosis Diagnoses, Index Indices, Appendix Appendices, Matrix Matrices, Vertex Vertices,
    Vortex Vortexes, Suffix Suffixes, Complex Complexes, Codex Codices, Datum Data, Data Data, Metadata Metadata,
    Medium Mediums, Media Media, Bacterium Bacteria, Curriculum Curricula, Criterion Criteria, Phenomenon Phenomena,
    Stratum Strata, Symposium Symposia, Stadium Stadiums, Album Albums, Forum Forums, Museum Museums, Quorum Quora,
    Agenda Agenda, Addendum Addenda, Erratum Errata, Automaton Automata, Organ Organs, Alumnus Alumni,
    Alumna Alumnae, Alga Algae, Radius Radii, Nucleus Nuclei, Fungus Fungi, Cactus Cacti, Stimulus Stimuli,
    Focus Foci, Terminus Termini, Syllabus Syllabi, Virus Viri, Status Statuses, Campus Campuses, Bonus Bonuses,
    Corpus Corpuses, Census Censuses, Genus Genera, Octopus Octopuses, Menu Menus, Emu Emus, Alias Aliases,
    Atlas Atlases, Gas Gases, Iris Irises, Christmas Christmases, Canvas Canvases, Bias Bias, Class Classes,
    Address Addresses, Process Processes, Business Businesses, Access Accesses, Boss Bosses, Match Matches,
    Batch Batches, Branch Branches, Watch Watches, Church Churches, Dish Dishes, Crash Crashes, Brush Brushes,
    Buzz Buzzes, Quiz Quizzes, Category Categories, Company Companies, Country Countries, Entry Entries,
    Policy Policies, Story Stories, Reply Replies, Query Queries, Soliloquy Soliloquies, Activity Activities,
    Entity Entities, Property Properties, Inventory Inventories, Day Days, Key Keys, Boy Boys, Toy Toys,
    Survey Surveys, Journey Journeys, Money Monies, Honey Honeys, Valley Valleys, Chimney Chimneys,
    Attorney Attorneys, Essay Essays, Guy Guys, Buy Buys, Wife Wives, Life Lives, Knife Knives, Half Halves,
    Shelf Shelves, Wolf Wolves, Calf Calves, Elf Elves, Loaf Loaves, Scarf Scarves, Hoof Hooves, Thief Thieves,
    Proof Proofs, Roof Roofs, Chief Chiefs, Belief Beliefs, Brief Briefs, Staff Staff, Cliff Cliffs, Tariff Tariffs,
    Safe Safes, Cafe Cafes, Giraffe Giraffes, Valve Valves, Potato Potatoes, Tomato Tomatoes, Echo Echoes,
    Volcano Volcanoes, Tornado Tornadoes, Torpedo Torpedoes, Photo Photos, Video Videos, Radio Radios, Memo Memos,
    Logo Logos, Studio Studios, Portfolio Portfolios, Zero Zeros, Euro Euros, Piano Pianos, Superhero Superheroes,
    Schema Schemata, Stigma Stigmata, Dogma Dogmata, Lemma Lemmata, Comma Commas, Camera Cameras, Area Areas,
    Idea Ideas, Pizza Pizzas, Sheep Sheep, Fish Fish, Swordfish Swordfish, Deer Deer, Reindeer Reindeer,
    Series Series, Species Species, News News, Police Police, Equipment Equipment, Information Information,
    Software Software, Hardware Hardware, Traffic Traffic, Transportation Transportation, Music Music, Mail Mail,
    Analytics Analytics, Audio Audio, Aircraft Aircraft, Moose Moose, Salmon Salmon, Shrimp Shrimp, Rice Rice,
    Smallpox Smallpox, Chinese Chinese, Japanese Japanese, Pokemon Pokemon, Passerby Passersby, Lens Lens,
    Glasses Glasses, Chassis Chassis, Corps Corps, Premises Premises, Headquarters Headquarters, User Users,
    Order Orders, Product Products, Invoice Invoices, Message Messages, Room Rooms, Comment Comments,
    Article Articles, Page Pages, Image Images, File Files, Team Teams, Member Members, Group Groups, Role Roles,
    Event Events, Device Devices, Sensor Sensors, Reading Readings, Location Locations, Vehicle Vehicles,
    Route Routes, Station Stations, Price Prices, Choice Choices, Cause Causes, Phase Phases, Purchase Purchases,
    Release Releases, Response Responses, License Licenses, Course Courses, Nurse Nurses, Horse Horses, Vase Vases,
    Cookie Cookies, Movie Movies, Calorie Calories, Size Sizes, Prize Prizes, Tree Trees, Employee Employees,
    Shoe Shoes, Canoe Canoes, Toe Toes, Die Dice, This These, Plateau Plateaus, Gateaux Gateaux, URL URLS, FAQ FAQS
    """
}
