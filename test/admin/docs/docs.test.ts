import { describe, expect, it } from 'vitest';
import { docsPage } from '../../../src/admin/docs/docs.ts';
import { html, prose } from '../../../src/lib/html.ts';
import { openApiDocument } from '../../../src/openapi/document.ts';

describe('html', () => {
  it('escapes values, unless they are HTML themselves', () => {
    const inner = html`<b>${'a < b & "c"'}</b>`;
    expect(html`<p title="${'"'}">${inner}${['<', 1]}</p>`.text).toBe(
      '<p title="&quot;"><b>a &lt; b &amp; &quot;c&quot;</b>&lt;1</p>',
    );
  });

  it('takes backticks for code', () => {
    expect(prose('say `<x>` here').text).toBe('say <code>&lt;x&gt;</code> here');
  });
});

describe('the page', () => {
  const page = docsPage(openApiDocument);

  it('describes nested members by their path', () => {
    expect(page).toContain('<code>operations[].attempts[].latencyMs</code>');
    expect(page).toContain('<code>customFields.operatorUser</code>');
  });

  it('has a table for each message that an endpoint takes', () => {
    for (const { description } of ['Unsettle', 'Settle', 'Rollback', 'Update'].map(
      (name) => openApiDocument.components.schemas[`${name}Request`] ?? {},
    )) {
      expect(page).toContain(`<p>${description}.</p>`);
    }
  });

  it('leads from its contents to every endpoint', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(6);
    for (const target of targets) expect(page).toContain(`id="${target}"`);
  });
});
