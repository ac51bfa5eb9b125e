// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/page.css.

extension ConsoleAsset {
  static let pageCSS = ConsoleAsset(
    "page.css", .css,
    ##"""
    body { font-size: 15px; line-height: 1.6; }
    main { max-width: 720px; margin: 0 auto; padding: 56px 24px 96px; }
    header { margin-bottom: 48px; }
    .brand { font-size: 17px; margin: 0 0 40px; }
    .brand svg { width: 28px; height: 28px; }
    h1 { font-size: 32px; line-height: 1.2; font-weight: 600; letter-spacing: -.02em; margin: 0 0 12px; text-wrap: balance; }
    .lead { color: var(--dim); font-size: 17px; margin: 0 0 24px; text-wrap: pretty; }
    h2 { font-size: 15px; font-weight: 600; margin: 0 0 10px; }
    section { margin-top: 40px; }
    section p { color: var(--dim); margin: 0 0 10px; }
    .open { display: inline-block; background: var(--accent); color: var(--accent-ink); padding: 8px 18px; border-radius: 7px; font-weight: 600; }
    .open:hover { text-decoration: none; filter: brightness(1.08); }
    .paths { display: grid; grid-template-columns: max-content minmax(0, 1fr); margin: 0; border-top: 1px solid var(--line); }
    .paths dt, .paths dd { padding: 7px 0; margin: 0; border-bottom: 1px solid var(--line); }
    .paths dt { font-family: var(--mono); font-size: 13px; line-height: 24px; padding-right: 32px; }
    .paths dd { color: var(--dim); }
    .types { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 8px; }
    .types li { font: 13px/1.4 var(--mono); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; }
    pre { margin: 0; padding: 16px 18px; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; overflow: auto; font-size: 12.5px; line-height: 1.65; tab-size: 2; }
    p code { font-size: .9em; background: var(--panel); border-radius: 4px; padding: 1px 5px; }
    @media (max-width: 560px) { .paths { grid-template-columns: 1fr; } .paths dt { border-bottom: 0; padding-bottom: 0; } .paths dd { padding-top: 0; } }

    """##)
}
