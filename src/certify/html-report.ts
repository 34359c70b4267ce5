import { type Html, html, prose } from '../lib/html.ts';
import type { CaseResult, Certificate, SeenCall, Suggestion } from './certificate.ts';
import { REPORT_STYLE } from './report-style.ts';
import { casesByGroup, headline, moneyLine, titleOf, VERDICT_MARKS } from './report-words.ts';

/**
 * The certificate as one HTML file: no scripts, nothing loaded from elsewhere, every text from the
 * wallet escaped.
 */
export function htmlReport(certificate: Certificate): string {
  const { operator, cases, suggestions } = certificate;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Certificate of ${operator}: ${certificate.result}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<main>
<h1>Wallet of ${operator} <small>certification</small></h1>
<p class="result ${certificate.result}"><strong>${headline(certificate)}</strong></p>
${facts(certificate)}
${suggested(suggestions)}
<h2>Cases</h2>
${casesByGroup(cases).map(([group, ofGroup]) => groupSection(group, ofGroup))}
</main>
</body>
</html>
`;
  return page.text;
}

function facts(certificate: Certificate): Html {
  const { player, sandbox, dialect, strict } = certificate;
  const rows: readonly (readonly [string, string | Html])[] = [
    ['Wallet', html`<code>${certificate.wallet}</code> (adapter ${certificate.adapter})`],
    ['Player', html`<code>${player.userId}</code>, ${player.currency}`],
    ['Sandbox', sandbox.isTest ? 'yes: the profile says isTest' : 'no: the run was forced'],
    ['Dialect', dialectOf(dialect, strict)],
    ['Begun', `${certificate.startedAt}, took ${(certificate.durationMs / 1000).toFixed(1)} s`],
    ['Calls', `${certificate.calls}`],
    ['Money', moneyLine(certificate)],
    ['By', `wagergate ${certificate.wagergate}, Node ${certificate.node}`],
  ];
  return html`<table class="facts">
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody>
</table>`;
}

function dialectOf(dialect: Certificate['dialect'], strict: boolean): string | Html {
  const text = JSON.stringify(dialect);
  if (text === '{}') return strict ? 'left out (--strict)' : 'none';
  return html`<code>${text}</code>${strict ? ' (--strict: only where calls go)' : ''}`;
}

function suggested(suggestions: readonly Suggestion[]): Html {
  if (suggestions.length === 0) return html``;
  const lines = suggestions.flatMap(({ yaml }) => yaml.split('\n')).map((line) => `    ${line}`);
  return html`<h2>Dialect that would help</h2>
<p>With these lines in the operator's file the gateway understands what it did not. They translate
answers; no dialect puts money right.</p>
<pre>wallet:
  dialect:
${lines.join('\n')}</pre>
<table>
<thead><tr><th scope="col">Item</th><th scope="col">Because</th><th scope="col">Seen in</th></tr></thead>
<tbody>${suggestions.map(
    ({ item, why, cases }) =>
      html`<tr><td><code>${item}</code></td><td>${why}</td><td>${caseLinks(cases)}</td></tr>`,
  )}</tbody>
</table>`;
}

function caseLinks(ids: readonly string[]): readonly Html[] {
  return ids.map((id) => html`<a href="#${id}">${id}</a> `);
}

function groupSection(group: string, cases: readonly CaseResult[]): Html {
  return html`<h3 id="group-${group}">${titleOf(group)}</h3>
${cases.map(caseSection)}`;
}

function caseSection(one: CaseResult): Html {
  const { id, verdict, title, reasons } = one;
  // What needs a look is open from the start, also on paper.
  const open = verdict === 'failed' || verdict === 'warned' ? ' open' : '';
  return html`<details id="${id}" class="case"${open}>
<summary><span class="verdict ${verdict}">${VERDICT_MARKS[verdict]} ${verdict}</span> ${title} <code class="id">${id}</code></summary>
${reasons.length === 0 ? '' : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
<dl>
<dt>Rule</dt><dd>${one.rule}</dd>
<dt>Expected</dt><dd>${prose(one.expected)}</dd>
${balanceOf(one)}
</dl>
${seenTable(one)}
</details>
`;
}

function balanceOf({ balance }: CaseResult): Html {
  if (balance === undefined) return html``;
  return html`<dt>Balance</dt><dd>${balance.before} before, ${balance.after} at its last look</dd>`;
}

function seenTable({ seen, seenLeftOut }: CaseResult): Html {
  if (seen.length === 0) return html``;
  const more = seenLeftOut === 0 ? '' : html`<p class="soft">and ${seenLeftOut} more calls</p>`;
  return html`<table>
<thead><tr><th scope="col">Call</th><th scope="col">HTTP</th><th scope="col">ms</th><th scope="col">Answer</th></tr></thead>
<tbody>${seen.map(seenRow)}</tbody>
</table>${more}`;
}

function seenRow({ operation, status, ms, answer }: SeenCall): Html {
  return html`<tr><td>${operation}</td><td>${status ?? 'none'}</td><td>${ms}</td><td><code>${answer}</code></td></tr>`;
}
