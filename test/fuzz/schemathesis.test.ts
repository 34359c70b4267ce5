import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { SignedClient } from '../../tools/simulator/signed-client.ts';
import { type BonusGateway, startBonusGateway } from '../bonuses/support/bonus-gateway.ts';
import { portOf } from '../outbound/support/client.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';

/**
 * Schemathesis makes up requests from the OpenAPI document alone. It is a Python program, so only `npm run fuzz --
 * --schemathesis` runs it; FUZZ_SCHEMATHESIS is its command.
 */
const PROGRAM = process.env.FUZZ_SCHEMATHESIS ?? '';
const CHECKS =
  'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

let deployment: BonusGateway;
beforeAll(async () => {
  if (PROGRAM !== '') deployment = await startBonusGateway();
});
afterAll(() => deployment?.close());

it.skipIf(PROGRAM === '')(
  'Schemathesis finds no answer that the OpenAPI document does not describe',
  async () => {
    const player = await deployment.gateway.player();
    const signer = await startSigner(player);
    const seed = process.env.FUZZ_SEED ?? '1';
    const said = await runProgram([
      ...['run', `${signer.url}/openapi.json`, '--checks', CHECKS, '--seed', seed],
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '50', '--no-color'],
    ]);
    await signer.close();
    console.log(said.text.split('\n').slice(-25).join('\n'));
    expect(said.status, said.text).toBe(0);
  },
  600_000,
);

/** A proxy to the gateway that signs every request as the party that may call its path. */
async function startSigner(player: { readonly userId: string; readonly token: string }) {
  const client = (secret: string) =>
    new SignedClient({ baseUrl: deployment.gateway.baseUrl, secret, timeoutMs: 30_000 });
  const service = client(SERVICE_SECRET);
  const operator = client('alpha-api-secret-that-is-long-enough');
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '/' } = request;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const isOperators = /^\/(operator|bonuses)\//.test(url);
    const identity = isOperators ? { cid: 'alpha-key' } : player;
    const body = named(Buffer.concat(pieces), identity);
    const answer = await (isOperators ? operator : service).call(methodOf(method), url, body);
    const type = answer.headers['content-type'] ?? 'text/plain';
    response.writeHead(answer.status === 0 ? 500 : answer.status, { 'content-type': type });
    response.end(answer.body);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch((error: unknown) => response.destroy(Error(String(error))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([service.close(), operator.close()]);
    },
  };
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

function methodOf(method: string): Method {
  const known: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
  return known.find((one) => one === method) ?? 'GET';
}

/** The same JSON object with a known identity; anything else unchanged. */
function named(body: Buffer, identity: Readonly<Record<string, unknown>>): Buffer | string {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return body;
    const { path, at, nonce, ...fields } = Object(value);
    const known = Object.entries(identity).filter(([name]) => name in fields || name === 'cid');
    return JSON.stringify({ ...fields, ...Object.fromEntries(known) });
  } catch {
    // Text that is not JSON is a valid request here.
    return body;
  }
}

async function runProgram(args: readonly string[]) {
  // It writes its findings to the folder in which it is started.
  const cwd = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const child = spawn(PROGRAM, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { status, text };
}
