// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/console.css.

extension ConsoleAsset {
  static let consoleCSS = ConsoleAsset(
    "console.css", .css,
    ##"""
    html, body { height: 100%; }
    body { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; font-size: 13px; }
    h2 { font-size: 13px; font-weight: 600; margin: 0; }
    button, select, input { font: inherit; color: inherit; }
    button { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 4px 11px; cursor: pointer; }
    button:hover { border-color: var(--dim); }
    button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; padding: 4px 16px; }
    button.primary:hover { filter: brightness(1.08); }
    button.quiet { border-color: transparent; background: none; color: var(--dim); padding: 4px 7px; }
    button.quiet:hover { color: var(--ink); background: var(--panel); }
    select, input { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px; }
    [hidden] { display: none !important; }
    .space { flex: 1; }
    .scroll { overflow: auto; min-height: 0; }
    .inline { color: var(--dim); display: inline-flex; gap: 6px; align-items: center; }
    .inline select { color: var(--ink); max-width: 24ch; }
    .empty { color: var(--dim); margin: 0; padding: 12px 16px; }

    .top { display: flex; align-items: center; gap: 22px; padding: 8px 16px; border-bottom: 1px solid var(--line); min-height: 54px; }
    .brand { font-size: 15px; }
    .server { margin: 0; color: var(--dim); font-variant-numeric: tabular-nums; white-space: nowrap; }
    .server[data-state="away"] { color: var(--bad); }
    .plots { display: flex; gap: 30px; margin: 0 0 0 auto; }
    .plots div { display: grid; grid-template-columns: auto auto; column-gap: 12px; align-items: center; }
    .plots dt { color: var(--dim); font-size: 11px; line-height: 1.2; }
    .plots dd { margin: 0; font-size: 15px; line-height: 1.2; font-variant-numeric: tabular-nums; grid-row: 2; min-width: 5ch; }
    .plots svg { grid-column: 2; grid-row: 1 / 3; width: 72px; height: 30px; overflow: visible; }
    .plots polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
    .plots polygon { fill: var(--wash); stroke: none; }

    main { display: grid; grid-template-columns: 272px minmax(0, 1fr) minmax(0, 1fr); min-height: 0; }
    main > section { display: flex; flex-direction: column; min-height: 0; min-width: 0; }
    main > section + section { border-left: 1px solid var(--line); }
    .bar { display: flex; align-items: center; gap: 8px; padding: 8px 12px 8px 16px; min-height: 46px; border-bottom: 1px solid var(--line); flex-wrap: wrap; }

    .docs { background: var(--panel); }
    .docs .bar { justify-content: space-between; border-bottom-color: transparent; }
    #docs-search { margin: 0 16px 8px; }
    #docs-path { padding: 0 16px; display: flex; flex-wrap: wrap; gap: 2px 6px; color: var(--dim); }
    #docs-path:not(:empty) { padding-bottom: 8px; }
    #docs-path button { border: 0; background: none; padding: 0; color: var(--accent); }
    #docs-body { padding: 0 16px 24px; flex: 1; }
    #docs-body h3 { font-size: 11px; font-weight: 600; color: var(--dim); margin: 18px 0 4px; letter-spacing: .02em; }
    #docs-body h3:first-child { margin-top: 4px; }
    #docs-body p { margin: 4px 0 10px; color: var(--dim); overflow-wrap: anywhere; white-space: pre-line; }
    #docs-body ul { list-style: none; margin: 0; padding: 0; }
    #docs-body li { padding: 3px 0; font-family: var(--mono); font-size: 12px; line-height: 1.55; overflow-wrap: anywhere; }
    #docs-body li p { font: 12px/1.45 var(--sans); margin: 0 0 4px; }
    #docs-body .whole { white-space: nowrap; }
    #docs-body button { border: 0; background: none; padding: 0; font: inherit; text-align: left; border-radius: 2px; }
    #docs-body button:hover { text-decoration: underline; text-underline-offset: 3px; background: none; }
    #docs-body .old { text-decoration: line-through; }
    #docs-body .signature { font-size: 12px; margin: 0 0 6px; font-family: var(--mono); color: var(--ink); }
    .insert { float: right; color: var(--dim) !important; font-family: var(--sans) !important; font-size: 11px !important; opacity: 0; }
    li:hover > .insert, .insert:focus-visible { opacity: 1; }

    .editor { position: relative; display: grid; font: 13px/20px var(--mono); min-height: 0; overflow: hidden; background: var(--paper); }
    .editor.grow { flex: 1; }
    .editor.small { height: 132px; flex: none; }
    .editor pre, .editor textarea { grid-area: 1 / 1; margin: 0; padding: 12px 16px 12px 52px; font: inherit; white-space: pre; tab-size: 2; letter-spacing: 0; border: 0; }
    .editor pre { pointer-events: none; overflow: hidden; color: var(--ink); }
    .editor textarea { background: none; color: transparent; caret-color: var(--ink); resize: none; overflow: auto; outline: none; width: 100%; height: 100%; }
    .editor textarea::selection { background: color-mix(in srgb, var(--accent) 28%, transparent); }
    .editor textarea:focus-visible { box-shadow: inset 2px 0 0 var(--accent); outline: none; border-radius: 0; }
    .editor .lines { position: absolute; left: 0; top: 0; width: 40px; padding: 12px 0; text-align: right; color: var(--dim); opacity: .6; font-size: 11px; white-space: pre; pointer-events: none; }
    .popup { position: absolute; z-index: 5; min-width: 260px; max-width: 440px; max-height: 220px; overflow: auto; margin: 0; padding: 4px; list-style: none; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 24px rgb(0 0 0 / .14); font-size: 12px; }
    .popup li { display: grid; grid-template-columns: auto 1fr; column-gap: 14px; padding: 2px 8px; border-radius: 5px; cursor: pointer; white-space: nowrap; }
    .popup li span { color: var(--dim); text-align: right; overflow: hidden; text-overflow: ellipsis; }
    .popup li small { display: none; grid-column: 1 / 3; font: 12px/1.4 var(--sans); color: var(--dim); white-space: normal; }
    .popup li[aria-selected="true"] { background: var(--wash); }
    .popup li[aria-selected="true"] small { display: block; }
    .tabs { display: flex; gap: 4px; padding: 0 12px; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); background: var(--panel); }
    .tabs button { border: 0; border-radius: 0; background: none; padding: 7px 6px; color: var(--dim); border-bottom: 2px solid transparent; margin-bottom: -1px; }
    .tabs button[aria-selected="true"] { color: var(--ink); border-bottom-color: var(--accent); }
    .problem { margin: 0; padding: 8px 16px; color: var(--bad); background: var(--bad-wash); white-space: pre-line; max-height: 110px; overflow: auto; }
    .problem:empty { display: none; }

    .state { padding: 1px 9px; border-radius: 9px; background: var(--panel); color: var(--dim); font-size: 12px; font-variant-numeric: tabular-nums; }
    .state[data-state="live"] { background: var(--wash); color: var(--accent); }
    .state[data-state="away"] { background: var(--warn-wash); color: var(--warn); }
    .state[data-state="failed"] { background: var(--bad-wash); color: var(--bad); }
    .tally { display: flex; gap: 22px; margin: 0; padding: 7px 16px; border-bottom: 1px solid var(--line); color: var(--dim); flex-wrap: wrap; font-variant-numeric: tabular-nums; }
    .tally div { display: flex; gap: 6px; }
    .tally dd { margin: 0; color: var(--ink); }
    .output { flex: 1; font: 12.5px/1.6 var(--mono); }
    .output pre { margin: 0; padding: 12px 16px; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
    .output ol { list-style: none; margin: 0; padding: 0; }
    .output li { border-bottom: 1px solid var(--line); }
    .row, .row summary { display: grid; grid-template-columns: 66px 56px minmax(0, 1fr); gap: 12px; padding: 5px 16px; align-items: baseline; }
    details.row { display: block; padding: 0; }
    .row summary { cursor: pointer; list-style: none; }
    .row summary::-webkit-details-marker { display: none; }
    .row summary:hover { background: var(--panel); }
    .row .when, .row .where { color: var(--dim); font-variant-numeric: tabular-nums; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .row .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .row[open] .what { color: var(--dim); }
    .row pre { padding: 2px 16px 10px 162px; }
    .row.note { color: var(--dim); font-family: var(--sans); }
    .row.note .when, .row.note .where { font-family: var(--mono); }
    .row.note .what { white-space: normal; }
    .row.gap, .row.cut { background: var(--warn-wash); }
    .row.gap .what, .row.cut .what { color: var(--warn); }
    .row.fault { background: var(--bad-wash); }
    .row.fault .what { color: var(--bad); }
    .row.ready .what { color: var(--accent); }
    .mark { font: 11px var(--sans); color: var(--accent); background: var(--wash); border-radius: 8px; padding: 1px 7px; margin-right: 8px; }
    .meta { color: var(--dim); padding: 9px 16px; border-bottom: 1px solid var(--line); font: 12px var(--sans); font-variant-numeric: tabular-nums; }

    .log { border-top: 1px solid var(--line); background: var(--panel); min-width: 0; }
    .log summary { padding: 8px 16px; cursor: pointer; color: var(--dim); }
    .log summary h2 { display: inline; color: var(--ink); margin-right: 8px; }
    .log .scroll { height: 178px; background: var(--paper); border-top: 1px solid var(--line); }
    .log table { border-collapse: collapse; width: 100%; font: 12px/1.5 var(--mono); table-layout: fixed; }
    .log th { position: sticky; top: 0; background: var(--paper); text-align: left; font: 600 11px var(--sans); color: var(--dim); padding: 7px 16px 5px; }
    .log td { padding: 3px 16px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    .log th:nth-child(1) { width: 12ch; } .log th:nth-child(2) { width: 13ch; } .log th:nth-child(3) { width: 22ch; } .log th:nth-child(4) { width: 26%; }
    .log td:first-child { color: var(--dim); font-variant-numeric: tabular-nums; }
    .log tr.new td { animation: arrive 1.6s ease-out; }
    .log tr.end td { border-bottom: 1px solid var(--line); }
    .created { color: var(--string); } .updated { color: var(--field); } .deleted { color: var(--bad); } .published { color: var(--keyword); }
    @keyframes arrive { from { background: var(--wash); } to { background: transparent; } }

    @media (max-width: 1180px) { .plots div:nth-child(n + 4) { display: none; } .plots svg { width: 60px; } }
    @media (max-width: 980px) {
      html, body { height: auto; }
      body { display: block; }
      .top { flex-wrap: wrap; }
      main { grid-template-columns: minmax(0, 1fr); }
      main > section + section { border-left: 0; border-top: 1px solid var(--line); }
      .work { order: -2; } .result { order: -1; }
      .editor.grow { min-height: 260px; }
      .docs, .result { max-height: 70vh; }
      .result { min-height: 320px; }
    }

    """##)
}
