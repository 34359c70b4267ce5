import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SignedClient } from '../../tools/simulator/signed-client.ts';
import type { BonusGateway } from '../bonuses/support/bonus-gateway.ts';
import { batchBody, startBonusGateway, templateBody } from '../bonuses/support/bonus-gateway.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };
import { type Documented, documented, expectDocumented } from '../openapi/support/documented.ts';
import { placedBet } from '../support/bet.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { effort } from './support/effort.ts';
import { valuesOf } from './support/from-schema.ts';
import { mutated, oddMember } from './support/mutations.ts';

const HANG_MS = 25_000;
const CALLBACKS = documented.filter(({ endpoint }) => endpoint.tags.includes('callbacks'));
const OPERATORS = documented.filter(({ endpoint }) => !endpoint.tags.includes('callbacks'));

let deployment: BonusGateway;
let service: SignedClient;
let operator: SignedClient;
let player: { readonly userId: string; readonly token: string; readonly user: string };
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway();
  player = await deployment.gateway.player();
  template = await deployment.template(deployment.alpha);
  const client = (secret: string) =>
    new SignedClient({ baseUrl: deployment.gateway.baseUrl, secret, timeoutMs: HANG_MS });
  service = client(SERVICE_SECRET);
  operator = client('alpha-api-secret-that-is-long-enough');
});
afterAll(async () => {
  await Promise.all([service.close(), operator.close()]);
  await deployment.close();
});

/** Sends it with the service's signature. */
async function callback({ route }: Documented, body: string | Buffer) {
  const [method = '', path = ''] = route.split(' ');
  const answer = await service.call(method === 'PUT' ? 'PUT' : 'POST', path, body);
  return expectProper(route, answer);
}

/** Sends it with an operator's signature. */
async function operatorCall({ route }: Documented, body: string | Buffer) {
  const [, path = ''] = route.split(' ');
  const answer = await operator.call('POST', path, body);
  // Nobody sends as much as this test does; the limit has a test of its own.
  if (answer.status === 429) await setTimeout(1_000 * Number(answer.headers['retry-after']));
  return expectProper(route, answer);
}

/** In time, documented, and never a fault of the gateway; a refused body is told which member is wrong. */
function expectProper(route: string, answer: { readonly status: number; readonly body: string }) {
  expect(answer.status, `${route} ${answer.body}`).toBeGreaterThan(0);
  expect(answer.status, `${route} ${answer.body}`).not.toBe(500);
  expectDocumented(route, answer);
  return answer;
}

/** Every refusal of invalid input names the member, or the body. */
function expectNamed(body: string): void {
  const { code, message }: { code?: number; message?: string } = JSON.parse(body);
  if (code !== 5) return;
  expect(message).toMatch(/^[\w.$-]+(: | is )|^(the|The) (body|bet|first|operator)|^No |^This /);
  expect(message?.length).toBeLessThan(500);
}

const of = (request: object) => ({
  ...request,
  ...('userId' in request && { userId: player.userId }),
  ...('token' in request && { token: player.token }),
  ...('currency' in request && { currency: 'USD' }),
});
const SAMPLES: readonly (readonly [string, object])[] = [
  ['POST /user/profile', samples.userProfile.request],
  ['POST /user/balance', samples.userBalance.request],
  ['POST /payment/bet', samples.placeBet.request],
  ...[
    samples.betDataUpdate,
    samples.settleWon,
    samples.settleRefund,
    samples.settleCashout,
    samples.unsettle,
    samples.rollback,
  ].map(({ request }) => ['PUT /payment/bet', request] as const),
];

describe('a signed callback', () => {
  it.each(SAMPLES.map(([route, request], at) => ({ at, route, request })))(
    'is answered as documented, whichever member is odd ($at, $route)',
    async ({ route, request }) => {
      const endpoint = endpointOf(CALLBACKS, route);
      await fc.assert(
        fc.asyncProperty(oddMember(of(request)), async ({ body }) => {
          expectNamed((await callback(endpoint, body)).body);
        }),
        effort(20),
      );
    },
  );

  it('is answered as documented, whatever its bytes are', async () => {
    const all = SAMPLES.map(([, request]) => JSON.stringify(of(request)));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...CALLBACKS), mutated(all), async (endpoint, body) => {
        await callback(endpoint, body);
      }),
      effort(50),
    );
  });

  it.each(CALLBACKS)('is answered as documented, made from the document ($route)', async (one) => {
    const { schema } = one.endpoint.requestBody.content['application/json'];
    await fc.assert(
      fc.asyncProperty(valuesOf(schema), async (value) => {
        await callback(one, JSON.stringify(value));
        await callback(one, JSON.stringify(of(Object(value))));
      }),
      effort(10),
    );
  });

  it('has left the gateway as able as before', async () => {
    const bet = await placedBet(deployment.gateway);
    expect((await bet.settle('10')).status).toBe(200);
  });
});

describe('a signed request of an operator', () => {
  const bodies: Readonly<Record<string, () => object>> = {
    '/operator/sessions': () => ({ operatorUser: 'x', currency: 'USD', operatorToken: 'a' }),
    '/operator/sessions/revoke': () => ({ operatorUser: 'nobody' }),
    '/operator/bets': () => ({ transactionId: 't1' }),
    '/bonuses/templates/add': () => templateBody(),
    '/bonuses/bonus/applyBatch': () => batchBody(template, [player.user]),
  };
  const signed = { cid: 'alpha-key', path: '', at: new Date().toISOString(), nonce: 'once' };
  const goodBody = ({ route, endpoint }: Documented) => {
    const [, path = ''] = route.split(' ');
    const { examples = {} } = endpoint.requestBody.content['application/json'];
    const [example] = Object.values(examples);
    return { ...Object(example?.value), ...bodies[path]?.(), cid: signed.cid };
  };

  it.each(OPERATORS)('is answered as documented, whichever member is odd ($route)', async (one) => {
    await fc.assert(
      fc.asyncProperty(oddMember(goodBody(one)), async ({ body }) => {
        expectNamed((await operatorCall(one, body)).body);
      }),
      effort(20),
    );
  });

  it('is answered as documented, whatever its bytes are', async () => {
    const all = OPERATORS.map((one) => JSON.stringify(goodBody(one)));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...OPERATORS), mutated(all), async (endpoint, body) => {
        await operatorCall(endpoint, body);
      }),
      effort(60),
    );
  });

  it.each(OPERATORS)('is answered as documented, made from the document ($route)', async (one) => {
    const { schema } = one.endpoint.requestBody.content['application/json'];
    await fc.assert(
      fc.asyncProperty(valuesOf(schema), async (value) => {
        const { path, at, nonce, ...fields } = Object(value);
        await operatorCall(one, JSON.stringify({ ...fields, cid: 'alpha-key' }));
      }),
      effort(15),
    );
  });
});

function endpointOf(all: readonly Documented[], route: string): Documented {
  const found = all.find((one) => one.route === route);
  if (found === undefined) throw new Error(`the document has no ${route}`);
  return found;
}
