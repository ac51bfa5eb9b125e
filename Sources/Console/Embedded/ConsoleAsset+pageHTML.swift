// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/page.html.

extension ConsoleAsset {
  static let pageHTML = ConsoleAsset(
    "page.html", .html,
    ##"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Martlet</title>
    <link rel="icon" href="/console/martlet.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/console/theme.css">
    <link rel="stylesheet" href="/console/page.css">
    </head>
    <body>
    <main>
    <header>
    <p class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M2 9c7 0 11 2 14 6 2-5 6-8 14-9-4 3-6 6-8 10-2 5-6 9-13 10l-4 4 1-5c3-2 4-4 4-7C8 14 6 11 2 9z"/></svg>Martlet</p>
    <h1>This server is running.</h1>
    <p class="lead">It serves GraphQL over HTTP, event streams and WebSockets. A subscription that loses its connection resumes after its cursor, and misses nothing.</p>
    {{CONSOLE}}
    </header>
    <section>
    <h2>Served here</h2>
    <dl class="paths">
    {{PATHS}}
    </dl>
    </section>
    {{SCHEMA}}
    <section>
    <h2>From Swift</h2>
    <p>Add the package <code>martlet</code> with its product <code>Martlet</code>.</p>
    <pre id="swift"><code>{{SWIFT}}</code></pre>
    </section>
    <section>
    <h2>From JavaScript</h2>
    <p>In a browser, without a library. The browser comes back by itself and names the last cursor. {{KEYS}}</p>
    <pre id="javascript"><code>{{JAVASCRIPT}}</code></pre>
    </section>
    <section>
    <h2>From a shell</h2>
    <pre id="shell"><code>{{SHELL}}</code></pre>
    </section>
    </main>
    </body>
    </html>

    """##)
}
