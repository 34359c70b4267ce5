import { type Html, html, prose } from '../../lib/html.ts';
import type {
  CaseResult,
  Certificate,
  SeenCall,
  Suggestion,
  Withheld,
} from '../certificate/certificate.ts';
import { MEANING_WORDS } from '../trial/failure-meaning.ts';
import { breakable, callsOf, scriptBox } from './html-calls.ts';
import { REPORT_STYLE } from './report-style.ts';
import {
  casesByGroup,
  countsLine,
  FITNESS_COLOURS,
  moneyLine,
  titleOf,
  VERDICT_MARKS,
  verificationLine,
} from './report-words.ts';

/** The certificate as one HTML file: no scripts, nothing loaded, every text from the wallet escaped. */
export function htmlReport(certificate: Certificate): string {
  const { operator, cases, verdict, summary } = certificate;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Certificate of ${operator}: ${verdict}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<main>
<h1>Wallet of ${operator} <small>certification</small></h1>
<p class="result ${FITNESS_COLOURS[verdict]}"><strong>${summary}</strong><br>${countsLine(certificate)}</p>
${findingsOf(certificate)}
${suggested(certificate)}
<h2>The run</h2>
${facts(certificate)}
<h2>Every case</h2>
${casesByGroup(cases).map(([group, ofGroup]) => groupSection(group, ofGroup, certificate))}
</main>
</body>
</html>
`;
  return page.text;
}

function findingsOf({ findings, cases }: Certificate): Html {
  if (findings.length === 0) return html`<h2>Findings</h2><p>None.</p>`;
  const byId = new Map(cases.map((one) => [one.id, one]));
  return html`<h2>Findings, worst first</h2>
<table class="overview">
<thead><tr><th scope="col">Means</th><th scope="col">What</th><th scope="col">Case</th></tr></thead>
<tbody>${findings.map(
    (one) =>
      html`<tr><td class="${one.verdict}">${MEANING_WORDS[one.meaning]}</td><td>${one.title}: ${breakable(one.what)}</td><td><a href="#finding-${one.case}"><code>${one.case}</code></a></td></tr>`,
  )}</tbody>
</table>
${findings.map((one) => findingSection(one, byId.get(one.case)))}`;
}

function findingSection(
  { case: id, verdict, meaning, title, advice }: Certificate['findings'][number],
  result: CaseResult | undefined,
): Html {
  if (result === undefined) return html``;
  const { rule, expected, reasons, calls, script } = result;
  return html`<section id="finding-${id}" class="finding">
<h3><span class="verdict ${verdict}">${VERDICT_MARKS[verdict]} ${MEANING_WORDS[meaning]}</span> ${title} <code class="id">${id}</code></h3>
<dl>
<dt>Rule</dt><dd>${rule}</dd>
<dt>Expected</dt><dd>${prose(expected)}</dd>
<dt>Seen</dt><dd>${reasons.map((reason) => html`${breakable(reason)}<br>`)}</dd>
${balanceOf(result)}
<dt>To do</dt><dd><strong>${advice}</strong></dd>
</dl>
${callsOf(calls)}
${script === null ? '' : scriptBox(script)}
</section>
`;
}

function facts(certificate: Certificate): Html {
  const { player, sandbox, dialect, strict, kit, otherPlayer } = certificate;
  const rows: readonly (readonly [string, string | Html])[] = [
    [
      'Wallet',
      html`<code>${breakable(certificate.wallet)}</code> (adapter ${certificate.adapter})`,
    ],
    ['Player', html`<code>${player.userId}</code>, ${player.currency}`],
    ['Second player', otherPlayer === null ? 'none: some cases used a made-up one' : otherPlayer],
    ['Sandbox', sandbox.isTest ? 'yes: the profile says isTest' : 'no, or not known'],
    ['Dialect in force', dialectOf(dialect, strict)],
    ['Begun', `${certificate.startedAt}, took ${(certificate.durationMs / 1000).toFixed(1)} s`],
    ['Ended', certificate.ending.replace('_', ' ')],
    ['Calls', `${certificate.callCount}`],
    ['Money', moneyLine(certificate)],
    ['Kit', `${kit.name} ${kit.version}, Node ${kit.node}`],
    ['Digest', html`<code class="digest">${certificate.digest}</code> of certificate.json`],
  ];
  return html`<table class="facts">
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody>
</table>`;
}

function dialectOf(dialect: Certificate['dialect'], strict: boolean): string | Html {
  const text = JSON.stringify(dialect);
  if (text === '{}') return strict ? 'left out (--strict)' : 'none';
  return html`<code>${breakable(text)}</code>${strict ? ' (--strict: only where calls go)' : ''}`;
}

function suggested(certificate: Certificate): Html {
  const { suggestions, withheld } = certificate;
  if (suggestions.length === 0 && withheld.length === 0) return html``;
  return html`<h2>Dialect</h2>
${suggestions.length === 0 ? html`<p>No item helps.</p>` : suggestedItems(certificate)}
${withheld.length === 0 ? '' : withheldItems(withheld)}`;
}

function suggestedItems(certificate: Certificate): Html {
  const { suggestions } = certificate;
  const lines = suggestions.flatMap(({ yaml }) => yaml.split('\n')).map((line) => `    ${line}`);
  return html`<p><strong>${verificationLine(certificate)}.</strong> These lines in the operator's file make the
gateway understand what it did not. They translate answers; no dialect puts money right.</p>
<pre>wallet:
  dialect:
${lines.join('\n')}</pre>
<table>
<thead><tr><th scope="col">Item</th><th scope="col">Because</th><th scope="col">Seen in</th></tr></thead>
<tbody>${suggestions.map(
    ({ item, why, cases }: Suggestion) =>
      html`<tr><td><code>${item}</code></td><td>${breakable(why)}</td><td>${caseLinks(cases)}</td></tr>`,
  )}</tbody>
</table>`;
}

function withheldItems(withheld: readonly Withheld[]): Html {
  return html`<p>Withheld, because they would do harm or no good:</p>
<table>
<thead><tr><th scope="col">Not to be used</th><th scope="col">Because</th><th scope="col">Cases</th></tr></thead>
<tbody>${withheld.map(
    ({ yaml, why, cases }) =>
      html`<tr><td><pre class="small">${yaml}</pre></td><td>${breakable(why)}</td><td>${caseLinks(cases)}</td></tr>`,
  )}</tbody>
</table>`;
}

function caseLinks(ids: readonly string[]): readonly Html[] {
  return ids.map((id) => html`<a class="whole" href="#${id}">${id}</a> `);
}

function groupSection(
  group: string,
  cases: readonly CaseResult[],
  { findings }: Certificate,
): Html {
  const found = new Set(findings.map((one) => one.case));
  return html`<h3 id="group-${group}">${titleOf(group)}</h3>
${cases.map((one) => caseSection(one, found.has(one.id)))}`;
}

/** @param isFound its calls are already shown above, among the findings */
function caseSection(one: CaseResult, isFound: boolean): Html {
  const { id, verdict, title, reasons } = one;
  return html`<details id="${id}" class="case">
<summary><span class="verdict ${verdict}">${VERDICT_MARKS[verdict]} ${verdict}</span> ${title} <code class="id">${id}</code></summary>
${reasons.length === 0 ? '' : html`<ul>${reasons.map((reason) => html`<li>${breakable(reason)}</li>`)}</ul>`}
<dl>
<dt>Rule</dt><dd>${one.rule}</dd>
<dt>Expected</dt><dd>${prose(one.expected)}</dd>
${balanceOf(one)}
</dl>
${isFound ? html`<p><a href="#finding-${id}">Every call, and how to repeat it</a></p>` : callsOfCase(one)}
</details>
`;
}

/** The calls in short; in full if `--verbose` has kept them. */
function callsOfCase(one: CaseResult): Html {
  const { calls, script } = one;
  return script === null
    ? seenTable(one)
    : html`${callsOf(calls)}
${scriptBox(script)}`;
}

function balanceOf({ balance }: CaseResult): Html {
  if (balance === null) return html``;
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
  return html`<tr><td>${operation}</td><td>${status ?? 'none'}</td><td>${ms}</td><td><code>${breakable(answer)}</code></td></tr>`;
}
