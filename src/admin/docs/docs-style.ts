import { Html } from '../../lib/html.ts';

/** Self-contained: the internal listener's network may have no internet access. */
export const STYLE = new Html(`
:root { color-scheme: light dark; --text: #1d2430; --soft: #5b6675; --line: #dfe4ea; --paper: #fff;
  --panel: #f6f8fa; --accent: #0b5fcc; --post: #1a7f4b; --put: #9a6200; --get: #0b5fcc; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e9f0; --soft: #9aa6b5; --line: #303846; --paper: #12161c; --panel: #1a2029;
    --accent: #6fb0ff; --post: #4cc38a; --put: #e0a83c; --get: #6fb0ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 52rem); gap: 3rem;
  max-width: 76rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; }
nav { position: sticky; top: 2rem; align-self: start; font-size: .9rem; max-height: 92vh; overflow: auto; }
nav h2 { margin: 1.4rem 0 .3rem; font-size: .75rem; letter-spacing: .08em; text-transform: uppercase;
  color: var(--soft); border: 0; }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem 0; color: inherit; text-decoration: none; }
nav a:hover { color: var(--accent); }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--soft); }
h2 { margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.4rem; }
h3 { margin: 2.6rem 0 .4rem; font-size: 1.1rem; scroll-margin-top: 1rem; }
h4 { margin: 1.6rem 0 .4rem; font-size: .9rem; color: var(--soft); font-weight: 600; }
p { margin: .4rem 0 .8rem; } a { color: var(--accent); }
.lead { font-size: 1.05rem; color: var(--soft); max-width: 44rem; }
.route { display: flex; gap: .7rem; align-items: center; flex-wrap: wrap; }
.method { font: 600 .72rem/1.7 ui-monospace, monospace; padding: 0 .5em; border: 1px solid currentColor; border-radius: .3em; }
nav .method { border: 0; padding: 0; min-width: 2.6em; }
.POST { color: var(--post); } .PUT { color: var(--put); } .GET { color: var(--get); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .86em; }
pre { margin: .4rem 0 1rem; padding: .9rem 1rem; overflow: auto; background: var(--panel); border: 1px solid var(--line);
  border-radius: .4rem; line-height: 1.5; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin: .3rem 0 1rem; }
td, th { padding: .42rem .8rem .42rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); font-size: .8rem; }
section { overflow-x: auto; }
td:first-child { white-space: nowrap; } .type { color: var(--soft); }
.required { color: var(--accent); font-size: .78rem; margin-left: .4em; }
.status { font: 600 .86rem ui-monospace, monospace; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; padding: .2rem 0; }
@media (max-width: 60rem) { .page { grid-template-columns: minmax(0, 1fr); } nav { position: static; } }
`);
