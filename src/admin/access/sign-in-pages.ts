import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html, prose } from '../../lib/html.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; } button { font: inherit; padding: .5rem 1rem; }
code { overflow-wrap: anywhere; }`;

/** Moves the link's secret from the address fragment, which browsers do not send, into the form, and submits it. */
export const LINK_SCRIPT = `const field = document.querySelector('input[name="token"]');
field.value = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
if (field.value !== '') field.form.submit();
`;

/** Otherwise Firefox asks for an icon and reports it as blocked, which misleads whoever debugs a sign-in. */
const NO_ICON = html`<link rel="icon" href="data:,">`;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  'img-src data:',
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every sign-in answer. */
export const SIGN_IN_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export function sendPage(
  reply: FastifyReply,
  status: number,
  title: string,
  ...content: readonly (Html | string)[]
): FastifyReply {
  const parts = content.map((part) => (part instanceof Html ? part : html`<p>${prose(part)}</p>`));
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Wagergate</title>${NO_ICON}<style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>${parts}</main></body></html>
`;
  return reply.code(status).type('text/html; charset=utf-8').send(page.text);
}

/** Submitted by the script above; without JavaScript it does not work. */
export const LINK_FORM = html`<form method="post" action="/console/link">
<input type="hidden" name="token"><noscript><p>This needs JavaScript.</p></noscript></form>
<script src="/console/link.js"></script>`;

export const SIGN_IN_AGAIN = html`<p><a href="/console/sign-in">Sign in again</a></p>`;

export const BY_TOKEN = html`<p><a href="/console">To the console</a></p>`;
