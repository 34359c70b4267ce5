import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

const attempts = z.object({
  operations: z.array(
    z.object({
      attempts: z.array(
        z.object({
          result: z.string(),
          error: z.string().nullable(),
          answer: z
            .object({
              contentType: z.string().nullable(),
              body: z.string(),
              truncated: z.boolean(),
            })
            .nullable(),
        }),
      ),
    }),
  ),
});

let gateway: TestGateway;
let alpha: SimulatedOperator;
let echo: Server;
let echoUrl: string;
/** How the odd wallet treats a request. */
let respond: (request: IncomingMessage, body: string, response: ServerResponse) => void;

beforeAll(async () => {
  gateway = await startTestGateway();
  alpha = gateway.operator('alpha');
  echo = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => respond(request, body, response));
  });
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  const address = echo.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  echoUrl = `http://127.0.0.1:${address.port}`;
});

afterEach(async () => {
  await gateway.reconfigure('alpha', {});
});

afterAll(async () => {
  echo.closeAllConnections();
  echo.close();
  await alpha.close();
  await gateway.close();
});

/** The only attempt of a bet's last operation, as the operator sees it. */
async function lastAttempt(transactionId: string) {
  const shown = attempts.parse((await alpha.bet(transactionId)).json);
  const attempt = shown.operations.at(-1)?.attempts.at(-1);
  if (attempt === undefined) throw new Error('no attempt was made');
  return attempt;
}

const odd = () => gateway.reconfigure('alpha', { wallet: { baseUrl: echoUrl, timeoutMs: 700 } });

describe("the wallet's own words", () => {
  it('stand beside each attempt, accepted or not', async () => {
    const bet = await placedBet(gateway);
    const placed = await lastAttempt(bet.transactionId);
    expect(placed).toMatchObject({ result: 'accepted', error: null });
    expect(placed.answer).toMatchObject({ contentType: 'application/json', truncated: false });
    expect(placed.answer?.body).toContain(bet.transactionId);

    bet.wallet.misbehave('settle', { kind: 'code', code: 5, message: 'cannot do that' }, ONCE);
    await bet.settle('10');
    expect(await lastAttempt(bet.transactionId)).toMatchObject({
      error: '400 code 5: cannot do that',
      answer: { body: expect.stringContaining('cannot do that') },
    });
  });

  it('are cut at what gateway.yaml says, and none where it says 0', async () => {
    const limited = await startTestGateway({
      gateway: { evidence: { acceptedBytes: 0, otherBytes: 10 } },
    });
    try {
      const operator = limited.operator('alpha');
      const bet = await placedBet(limited);
      bet.wallet.misbehave('settle', { kind: 'status', status: 502, body: 'x'.repeat(99) }, ONCE);
      await bet.settle('10');
      const { operations } = attempts.parse((await operator.bet(bet.transactionId)).json);
      await operator.close();
      expect(operations.map((operation) => operation.attempts[0]?.answer)).toEqual([
        null,
        { contentType: expect.anything(), body: 'x'.repeat(10), truncated: true },
      ]);
    } finally {
      await limited.close();
    }
  });

  it('never hold the token, the signature or the secret that a wallet echoes (I8)', async () => {
    const seen: string[] = [];
    respond = (request, body, response) => {
      const jws = String(request.headers['x-sign-jws']);
      const token = /"token":"([^"]+)"/.exec(body)?.[1] ?? '';
      seen.push(jws, jws.split('.')[2] ?? '', token);
      const echoed = JSON.stringify({ headers: request.headers, body, raw: JSON.parse(body) });
      const message = `${token} is unknown, ${jws} does not match alpha-wallet-secret`;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(`{"code":7,"message":${JSON.stringify(message)},"echo":${echoed}}`);
    };
    await odd();
    const bet = await unplacedBet(gateway);
    const answered = await bet.place();
    expect(answered.status).toBe(400);
    const shown = JSON.stringify((await alpha.bet(bet.transactionId)).json);
    const { rows } = await query(
      `SELECT wallet_body, error, answer_body FROM attempts
        WHERE wallet_body IS NOT NULL ORDER BY started_at DESC LIMIT 1`,
    );
    const kept = JSON.stringify({ ...rows[0], body: String(rows[0]?.wallet_body) });
    expect(kept).toContain('does not match ***');
    expect(seen.filter((secret) => secret.length < 8)).toEqual([]);
    for (const secret of [...seen, 'alpha-wallet-secret']) {
      expect(shown).not.toContain(secret);
      expect(kept).not.toContain(secret);
      expect(answered.body).not.toContain(secret);
    }
  });
});

const ONCE = { calls: 1 };

function query(text: string) {
  return onServer(gateway.databaseUrl, (client) => client.query<Record<string, unknown>>(text));
}
