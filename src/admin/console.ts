import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFoundAnswer, send } from './answers.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';

/** Content of this origin only, no inline script or style, and no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  // Page addresses contain ids of bets and players.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** For files named by the hash of their content: they never change. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

const INDEX = 'index.html';
const HASHED = /^assets\//;

const compressed = promisify(gzip);

/**
 * Serves the built pages of the console: code alone, so they need no authentication. Every other path below
 * `/console` gets the index page.
 */
export function consoleRoutes(app: FastifyInstance, files: ConsoleFiles): void {
  const gzipped = new Map<ConsoleFile, Promise<Buffer>>();
  const sendFile = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const file = files.get(name);
    for (const [header, value] of Object.entries(HEADERS)) reply.header(header, value);
    if (file === undefined) {
      const why = files.size === 0 ? 'The console is not built: npm run console' : 'No such file';
      send(reply, notFoundAnswer(why));
      return reply;
    }
    reply
      .header('content-type', file.contentType)
      .header('cache-control', HASHED.test(name) ? IMMUTABLE : 'no-cache')
      .header('vary', 'accept-encoding');
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(file.content);
    const body = gzipped.get(file) ?? compressed(file.content);
    gzipped.set(file, body);
    return reply.header('content-encoding', 'gzip').send(await body);
  };

  app.get('/console', (request, reply) => sendFile(request, reply, INDEX));
  app.get<{ Params: { '*': string } }>('/console/*', (request, reply) => {
    const name = request.params['*'];
    return sendFile(request, reply, files.has(name) || HASHED.test(name) ? name : INDEX);
  });
}
