import { Html, html } from '../../lib/html.ts';
import type { ShownCall } from '../certificate/certificate.ts';

/** The most calls that a finding lists; certificate.json has all of them. */
const CALLS_MAX = 16;

/** What was sent and received, call by call. */
export function callsOf(calls: readonly ShownCall[]): Html {
  if (calls.length === 0) return html``;
  const shown = calls.slice(0, CALLS_MAX);
  const more = calls.length - shown.length;
  return html`<table class="calls">
<thead><tr><th scope="col">Time</th><th scope="col">Request</th><th scope="col">Answer</th></tr></thead>
<tbody>${shown.map(callRow)}</tbody>
</table>${more === 0 ? '' : html`<p class="soft">and ${more} more calls, in certificate.json</p>`}`;
}

function callRow({ operation, at, ms, request, answer, error }: ShownCall): Html {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const came =
    answer === null
      ? html`<strong>no answer</strong><br>${breakable(error ?? '')}`
      : html`<strong>HTTP ${answer.status}</strong><br><code>${breakable(answer.body)}</code>${answer.truncated ? ' …' : ''}`;
  return html`<tr><td>${operation}<br><span class="soft">${at.slice(11, 23)}<br>${ms} ms</span></td>
<td><strong>${request.method} <code>${breakable(request.url)}</code></strong><br><span class="soft headers">${headers.join('\n')}</span><br><code>${breakable(request.body)}</code></td>
<td>${came}</td></tr>`;
}

/** Lines to copy into a shell. */
export function scriptBox(script: string): Html {
  return html`<details class="script" open><summary>The same calls for a shell</summary>
<pre>${script}</pre></details>`;
}

/** Long words such as JSON and addresses may break after punctuation. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[,/&;=?}])(?=\S)|(?= )|(?<= )/);
  // No break at hyphens: ids and names stay whole.
  const whole = (part: string) =>
    part.includes('-') ? html`<span class="whole">${part}</span>` : html`${part}`;
  return new Html(
    parts
      .map((part) => whole(part).text)
      .join('<wbr>')
      .replaceAll('<wbr> <wbr>', ' '),
  );
}
