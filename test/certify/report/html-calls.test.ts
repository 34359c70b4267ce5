import { expect, it } from 'vitest';
import type { ShownCall } from '../../../src/certify/certificate/certificate.ts';
import { breakable, callsOf } from '../../../src/certify/report/html-calls.ts';

const CALL: ShownCall = {
  ...{ operation: 'place', at: '2026-11-21T12:00:00.000Z', ms: 7 },
  request: { method: 'POST', url: 'https://wallet.example', headers: {}, body: '{}' },
  ...{ answer: null, error: '<no-answer>' },
};

it.each([
  ['<script>alert(1)</script>', 'no hyphen'],
  ['<script-x>alert("a-b")</script-x>', 'hyphens, which keep a word whole'],
  ['<a href=x-y onclick=z>', 'blanks and hyphens'],
  ['a,<b>,c-<d>', 'joints'],
])('escapes what a wallet said, wherever it may be broken: %s (%s)', (text) => {
  const shown = breakable(text).text.replaceAll(/<\/?(?:wbr|span)(?: class="whole")?>/g, '');
  expect(shown).not.toMatch(/[<>"]/);
  expect(shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')).toBe(
    text,
  );
});

it('shows sixteen calls of a finding, and says how many there are beside them', () => {
  const rows = (count: number) => callsOf(Array.from({ length: count }, () => CALL)).text;
  expect(rows(16).match(/<tr><td>place/g)).toHaveLength(16);
  expect(rows(16)).not.toContain('more');
  expect(rows(18).match(/<tr><td>place/g)).toHaveLength(16);
  expect(rows(18)).toContain('and 2 more calls, in certificate.json');
  expect(rows(1)).toContain('&lt;no-answer&gt;');
  expect(rows(0)).toBe('');
});
