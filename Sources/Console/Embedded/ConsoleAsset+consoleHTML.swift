// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/console.html.

extension ConsoleAsset {
  static let consoleHTML = ConsoleAsset(
    "console.html", .html,
    ##"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Martlet console</title>
    <link rel="icon" href="/console/martlet.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/console/theme.css">
    <link rel="stylesheet" href="/console/console.css">
    <script type="module" src="/console/main.js"></script>
    </head>
    <body>
    <a class="skip" href="#document">Skip to the editor</a>
    <header class="top">
      <a class="brand" href="/" title="What this server serves"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M2 9c7 0 11 2 14 6 2-5 6-8 14-9-4 3-6 6-8 10-2 5-6 9-13 10l-4 4 1-5c3-2 4-4 4-7C8 14 6 11 2 9z"/></svg>Martlet</a>
      <p id="server" class="server" role="status">Connecting…</p>
      <dl id="plots" class="plots" aria-label="Load of the server"></dl>
      <button id="theme" class="quiet" type="button" title="Light or dark">Theme</button>
    </header>
    <main>
      <section id="docs" class="docs" aria-label="Schema documentation">
        <div class="bar">
          <h2>Schema</h2>
          <button id="schema-reload" class="quiet" type="button" title="Read the schema again">Reload</button>
        </div>
        <input id="docs-search" type="search" placeholder="Search types and fields" aria-label="Search types and fields" autocomplete="off" spellcheck="false">
        <nav id="docs-path" aria-label="Path in the schema"></nav>
        <div id="docs-body" class="scroll" tabindex="0"></div>
      </section>
      <section class="work" aria-label="Operation">
        <div class="bar">
          <button id="run" class="primary" type="button" title="Ctrl+Enter">Run</button>
          <label class="inline" id="operation-choice" hidden>Operation <select id="operation"></select></label>
          <label class="inline">Protocol <select id="protocol"></select></label>
          <span class="space"></span>
          <button id="format" class="quiet" type="button" title="Shift+Alt+F">Format</button>
          <button id="share" class="quiet" type="button" title="Copy a curl command">Copy as curl</button>
        </div>
        <div id="document" class="editor grow"></div>
        <div class="tabs" role="tablist" aria-label="Variables and headers">
          <button role="tab" id="tab-variables" aria-controls="variables" aria-selected="true" type="button">Variables</button>
          <button role="tab" id="tab-headers" aria-controls="headers" aria-selected="false" tabindex="-1" type="button">Headers</button>
        </div>
        <div id="variables" class="editor small" role="tabpanel" aria-labelledby="tab-variables"></div>
        <div id="headers" class="editor small" role="tabpanel" aria-labelledby="tab-headers" hidden></div>
        <p id="problem" class="problem" role="alert"></p>
      </section>
      <section class="result" aria-label="Result">
        <div class="bar">
          <h2>Result</h2>
          <span id="state" class="state" role="status" data-state="idle">idle</span>
          <span class="space"></span>
          <button id="cut" type="button" title="Ends the connection and comes back in three seconds" hidden>Cut the connection</button>
          <button id="stop" type="button" hidden>Stop</button>
          <button id="clear" class="quiet" type="button">Clear</button>
        </div>
        <dl id="tally" class="tally" hidden></dl>
        <div id="output" class="output scroll" tabindex="0" aria-label="Results"></div>
      </section>
    </main>
    <details id="log" class="log" open>
      <summary><h2>Changes</h2> <span id="log-state">the newest changes of the log as they are committed</span></summary>
      <div class="scroll" tabindex="0" aria-label="Changes of the log">
        <table>
          <thead><tr><th scope="col">Offset</th><th scope="col">Change</th><th scope="col">Of</th><th scope="col">Key</th><th scope="col">Values</th></tr></thead>
          <tbody id="changes"></tbody>
        </table>
        <p id="log-empty" class="empty">No change has been committed since this page was opened. Run a mutation to see one.</p>
      </div>
    </details>
    </body>
    </html>

    """##)
}
