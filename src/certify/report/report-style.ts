import { Html } from '../../lib/html.ts';

/** Self-contained, for screens and paper; contrasts of at least 4.5 to 1, and no meaning by colour alone. */
export const REPORT_STYLE = new Html(`
:root { color-scheme: light dark; --text: #1d2430; --soft: #56606e; --line: #dfe4ea; --paper: #fff;
  --panel: #f6f8fa; --accent: #0b5fcc; --passed: #146c41; --failed: #b3261e; --warned: #845200;
  --skipped: #56606e; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e4e9f0; --soft: #a3aebc; --line: #303846; --paper: #12161c; --panel: #1a2029;
    --accent: #6fb0ff; --passed: #4cc38a; --failed: #ff8a80; --warned: #e0a83c; --skipped: #a3aebc; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
h1 small { font-size: 1rem; font-weight: 400; color: var(--soft); }
h2 { margin: 2.6rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.4rem; }
h3 { margin: 2rem 0 .4rem; font-size: 1.1rem; }
.result { margin: 1rem 0; padding: .7rem 1rem; border-left: .35rem solid currentColor; background: var(--panel); }
.passed { color: var(--passed); } .failed { color: var(--failed); }
.warned { color: var(--warned); } .skipped { color: var(--skipped); }
a { color: var(--accent); } .soft { color: var(--soft); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .86em; }
td, dd, li, code { overflow-wrap: break-word; }
pre { margin: .6rem 0 1rem; padding: .9rem 1rem; overflow: auto; background: var(--panel);
  border: 1px solid var(--line); border-radius: .4rem; line-height: 1.5; }
pre.small { margin: 0; padding: .2rem .5rem; }
main { overflow-x: clip; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin: .3rem 0 1rem; }
td, th { padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td:first-child { white-space: nowrap; }
.facts th { width: 9rem; } .facts td { white-space: normal; }
.overview td:first-child { font-weight: 600; white-space: normal; min-width: 9rem; }
.overview td:last-child { white-space: nowrap; }
.calls { table-layout: fixed; } .calls th:first-child { width: 6.5rem; } .calls th:last-child { width: 32%; }
.calls td { font-size: .85rem; } .headers { white-space: pre-line; }
.whole { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
.digest { overflow-wrap: anywhere; }
.finding { margin: 1.2rem 0 2rem; padding: .2rem 1.1rem .6rem; border: 1px solid var(--line); border-radius: .5rem; }
.finding h3 { margin-top: .8rem; }
.case { border-bottom: 1px solid var(--line); padding: .3rem 0; }
.case > :not(summary) { margin-left: 1.2rem; }
summary { cursor: pointer; }
.verdict { display: inline-block; min-width: 6em; font: 600 .8rem/1.7 ui-monospace, monospace; }
.finding .verdict { display: block; }
.id { color: var(--soft); font-weight: 400; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .1rem .8rem; margin: .4rem 0; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; } ul { margin: .3rem 0; padding-left: 1.2rem; }
@media (max-width: 40rem) { .calls, .calls tbody, .calls tr, .calls td, .overview, .overview tbody, .overview tr, .overview td { display: block; }
  .calls thead, .overview thead { display: none; } dl { grid-template-columns: 1fr; } td { border: 0; } tr { border-bottom: 1px solid var(--line); } }
@page { margin: 14mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 12px; } main { max-width: none; padding: 0; } a { color: inherit; text-decoration: none; }
  pre { white-space: pre-wrap; overflow-wrap: break-word; font-size: .78em; }
  .finding { border: 0; padding: 0; border-top: 2px solid var(--line); }
  .overview tr, dl, .result, .case { break-inside: avoid; } h2, h3, summary, thead { break-after: avoid; }
}
`);
