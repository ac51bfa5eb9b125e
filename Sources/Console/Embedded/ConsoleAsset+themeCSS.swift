// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/theme.css.

extension ConsoleAsset {
  static let themeCSS = ConsoleAsset(
    "theme.css", .css,
    ##"""
    :root {
      color-scheme: light dark;
      --paper: light-dark(#fdfcfa, #16181b);
      --panel: light-dark(#f6f4f0, #1b1e22);
      --line: light-dark(#e4e0d8, #2c3036);
      --ink: light-dark(#23262a, #e2e4e6);
      --dim: light-dark(#63676c, #989ea6);
      --accent: light-dark(#1f6f6a, #6fc3bb);
      --accent-ink: light-dark(#ffffff, #10201f);
      --wash: light-dark(#e7f1ef, #1f302f);
      --warn: light-dark(#8a5a00, #e3b662);
      --warn-wash: light-dark(#fbf1dc, #33291a);
      --bad: light-dark(#a4342a, #f0938a);
      --bad-wash: light-dark(#fbeae7, #38211f);
      --keyword: light-dark(#8a3b6b, #d99ac0);
      --field: light-dark(#1c5a8c, #8dbde6);
      --argument: light-dark(#6b5216, #d4bd85);
      --string: light-dark(#3c6e2c, #a3cf92);
      --number: light-dark(#9a4a1c, #e6ab83);
      --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
      --sans: system-ui, -apple-system, "Segoe UI", "Inter", "Noto Sans", "DejaVu Sans", sans-serif;
    }
    :root[data-theme="light"] { color-scheme: light; }
    :root[data-theme="dark"] { color-scheme: dark; }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.5 var(--sans); -webkit-font-smoothing: antialiased; }
    a { color: var(--accent); text-decoration: none; }
    a:hover { text-decoration: underline; text-underline-offset: 3px; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 3px; }
    code, pre, kbd { font-family: var(--mono); }
    .brand { display: inline-flex; align-items: center; gap: 8px; color: var(--ink); font-weight: 600; letter-spacing: -.01em; }
    .brand:hover { text-decoration: none; }
    .brand svg { width: 22px; height: 22px; fill: var(--accent); }
    .skip { position: absolute; left: -999px; }
    .skip:focus { left: 8px; top: 8px; background: var(--paper); padding: 4px 10px; z-index: 9; }
    .k { color: var(--keyword); } .f { color: var(--field); } .a { color: var(--argument); } .v { color: var(--number); }
    .s { color: var(--string); } .n { color: var(--number); } .c { color: var(--dim); font-style: italic; } .d { color: var(--keyword); }
    .p { color: var(--dim); } .t { color: var(--accent); }
    @media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }

    """##)
}
