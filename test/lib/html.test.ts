import { expect, it } from 'vitest';
import { html, prose } from '../../src/lib/html.ts';

it('escapes whatever is filled in, in lists as well, and nothing twice', () => {
  const hostile = `<a href="x" id='y'>&amp;</a>`;
  const escaped = '&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;';
  expect(html`<p>${hostile}</p>`.text).toBe(`<p>${escaped}</p>`);
  expect(html`<p>${[hostile, 7, html`<b>${hostile}</b>`]}</p>`.text).toBe(
    `<p>${escaped}7<b>${escaped}</b></p>`,
  );
});

it('shows as code what stands in backticks', () => {
  expect(prose('`a<b` is code, b is none').text).toBe('<code>a&lt;b</code> is code, b is none');
});
