import type { FastifyInstance } from 'fastify';
import { type Html, html, prose } from '../../lib/html.ts';
import type { Content, Endpoint, OpenApiDocument } from '../../openapi/parts.ts';
import { resolved, schemaTables } from './docs-schema.ts';
import { STYLE } from './docs-style.ts';

/** No external content, and no scripts. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Documents the public API: for people at `/docs`, for machines at `/docs/openapi.json`. */
export function docsRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const page = docsPage(document);
  const text = JSON.stringify(document, null, 2);
  app.get('/docs', (_request, reply) => {
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .send(page);
  });
  app.get('/docs/openapi.json', (_request, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').send(text);
  });
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly endpoint: Endpoint;
}

/** An OpenAPI document as one self-contained HTML page. */
export function docsPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, endpoint]) => ({
      method: method.toUpperCase(),
      path,
      endpoint,
    })),
  );
  const { title, version, description } = document.info;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} ${version}</title><style>${STYLE}</style></head>
<body><div class="page">
<nav>${document.tags.map(({ name }) => contents(name, entries))}</nav>
<main><header><h1>${title} <small>${version}</small></h1>
<p class="lead">${description}</p>
<p>For machines: <a href="/docs/openapi.json">openapi.json</a> (OpenAPI 3.1)</p></header>
${signature(document)}
${document.tags.map(
  ({ name, description: about }) => html`<h2 id="${name}">${capital(name)}</h2><p>${about}.</p>
${entries.filter((entry) => entry.endpoint.tags.includes(name)).map((entry) => section(document, entry))}`,
)}
</main></div></body></html>
`;
  return page.text;
}

function contents(tag: string, entries: readonly Entry[]): Html {
  const links = entries
    .filter(({ endpoint }) => endpoint.tags.includes(tag))
    .map(
      ({ method, path, endpoint }) => html`<a href="#${endpoint.operationId}">
<span class="method ${method}">${method}</span><span>${path}</span></a>`,
    );
  return html`<h2>${tag}</h2>${links}`;
}

function signature({ components }: OpenApiDocument): Html {
  const { name, description } = components.parameters.Signature;
  return html`<h4>Signature</h4><p>Every request carries the header <code>${name}</code>.
${prose(description)}</p>`;
}

function section(document: OpenApiDocument, { method, path, endpoint }: Entry): Html {
  const { schema } = endpoint.requestBody.content['application/json'];
  return html`<section>
<h3 id="${endpoint.operationId}">${endpoint.summary}</h3>
<div class="route"><span class="method ${method}">${method}</span><code>${path}</code></div>
<p>${prose(endpoint.description)}</p>
<h4>Request</h4>
${schemaTables(document, resolved(document, schema))}
${examples(endpoint.requestBody.content)}
<h4>Answers</h4>
${answers(document, endpoint)}
</section>`;
}

function answers(document: OpenApiDocument, endpoint: Endpoint): Html {
  const rows = Object.entries(endpoint.responses).map(([status, { description, content }]) => {
    const isError = Number(status) >= 400;
    return html`<tr><td class="status">${status}</td><td>${prose(description)}.
${isError ? codes(content) : success(document, content)}</td></tr>`;
  });
  return html`<table><tbody>${rows}</tbody></table>`;
}

/** The bodies of an error answer, one per code. */
function codes(content: Content): Html {
  const values = Object.values(content['application/json'].examples ?? {});
  return html`<div class="type">${values.map(
    ({ value }) => html`<div><code>${JSON.stringify(value)}</code></div>`,
  )}</div>`;
}

function success(document: OpenApiDocument, content: Content): Html {
  const { schema } = content['application/json'];
  return html`<details><summary>Members</summary>
${schemaTables(document, resolved(document, schema))}${examples(content)}</details>`;
}

function examples(content: Content): Html {
  const all = Object.values(content['application/json'].examples ?? {});
  return html`${all.map(
    ({ summary, value }) => html`<details><summary>Example: ${summary}</summary>
<pre>${JSON.stringify(value, null, 2)}</pre></details>`,
  )}`;
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
