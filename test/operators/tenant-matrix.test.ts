import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/openapi/document.ts';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import {
  type BonusGateway,
  batchBody,
  playerData,
  startBonusGateway,
  templateBody,
} from '../bonuses/support/bonus-gateway.ts';
import { documented } from '../openapi/support/documented.ts';
import { routesOf } from '../support/routes.ts';

/**
 * Tests every route of the operator and bonus API, read from the running listener. A new route is tested at once; a
 * route with new members fails until it is recorded below whether they name something that may belong to another
 * operator.
 */

type Ids = Readonly<Record<string, unknown>>;

/** Members of a request that name nothing of anybody's. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['cid', 'path', 'at', 'nonce'],
  ...['currency', 'ttlSeconds', 'page', 'day', 'expiredAt', 'description', 'fields'],
  ...['availableCountries', 'availableTournaments'],
  ...Object.keys(templateBody()),
  ...Object.keys(playerData('x')).filter((name) => name !== 'userId'),
]);

/** The routes that operators call. */
const ROUTES = documented
  .filter(({ endpoint }) => !endpoint.tags.includes('callbacks'))
  .map(({ route }) => route);

let deployment: BonusGateway;
/** Alpha's objects, by the name of the member that names them; and objects that do not exist. */
let foreign: Ids;
let missing: Ids;
/** What beta must never learn. */
let untold: readonly string[];
let stillThere: () => Promise<unknown>;

beforeAll(async () => {
  deployment = await startBonusGateway();
  const player = await deployment.gateway.player({ user: 'ann-of-alpha' });
  const { userId, token, operatorToken } = player;
  const slip = deployment.gateway.service.slip({ ...player, amount: '1' });
  await deployment.gateway.service.call('POST', '/payment/bet', placeBody(slip));
  const { transactionId } = slip;
  const templateId = await deployment.template(deployment.alpha, { name: 'The template of alpha' });
  const bonusId = await deployment.bonus(deployment.alpha, templateId, 'ann-of-alpha');
  foreign = idsOf({
    transactionId,
    token,
    operatorToken,
    user: 'ann-of-alpha',
    templateId,
    bonusId,
  });
  missing = idsOf({
    transactionId: 'b0b0b0b0-0000-4000-8000-000000000000',
    token: 'x'.repeat(token.length),
    operatorToken: 'y'.repeat(operatorToken.length),
    user: 'nobody-here1',
    templateId: 7_654_321,
    bonusId: 7_654_321,
  });
  untold = [userId, token, operatorToken, 'alpha-key', 'The template of alpha', 'aggregator-key'];
  stillThere = async () => [
    (await deployment.gateway.service.balance(player)).status,
    (await deployment.alpha.bet(transactionId)).json?.state,
    deployment.api.bonus(bonusId)?.status,
    (await deployment.alpha.call('/bonuses/template', { templateId })).status,
  ];
  expect(await stillThere()).toEqual([200, 'accepted', 'active', 200]);
});
afterAll(() => deployment.close());

function idsOf(one: {
  readonly transactionId: string;
  readonly token: string;
  readonly operatorToken: string;
  readonly user: string;
  readonly templateId: number;
  readonly bonusId: number;
}): Ids {
  const { user, bonusId, ...ids } = one;
  return {
    ...ids,
    bonusId,
    operatorUser: user,
    userId: user,
    bonusesIds: [bonusId],
    playersData: [playerData(user)],
  };
}

describe('the routes that operators call', () => {
  it('are those of the document, which the next tests go by', () => {
    const served = routesOf(deployment.gateway.app).filter(
      (route) => route !== 'GET /openapi.json',
    );
    expect(served.sort()).toEqual([...ROUTES].sort());
  });

  it.each(ROUTES)('take members of which it is known whether they name something: %s', (route) => {
    const unknown = membersOf(route).filter((name) => !PLAIN.has(name) && !(name in foreign));
    expect(unknown).toEqual([]);
  });
});

describe.each(ROUTES)('%s', (route) => {
  const [, path = ''] = route.split(' ');

  it('tells a foreign one from a missing one by nothing, and changes nothing (I8)', async () => {
    const naming = membersOf(route).filter((name) => name in foreign);
    for (const name of naming) {
      const [others, nobodys] = [foreign, missing].map((ids) => bodyWith(route, name, ids));
      const theirs = await deployment.beta.call(path, others ?? {});
      const none = await deployment.beta.call(path, nobodys ?? {});
      expect(looks(theirs, foreign), `${route} ${name}`).toEqual(looks(none, missing));
      // The request must be valid: a refusal of the request itself would look the same as well.
      expect(theirs.status, `${route} ${name} ${theirs.body}`).not.toBe(400);
      const sent = JSON.stringify(others);
      for (const text of untold) {
        if (!sent.includes(text)) expect(theirs.body, `${route} ${name}`).not.toContain(text);
      }
    }
    expect(await stillThere()).toEqual([200, 'accepted', 'active', 200]);
  });

  it('shows beta nothing of alpha’s if it names nothing', async () => {
    const { body } = await deployment.beta.call(path, exampleOf(route));
    for (const text of untold) expect(body).not.toContain(text);
  });

  it('takes nobody for another, and tells nobody who exists (I8)', async () => {
    const asked = async (cid: string, secretOf: 'beta' | 'nobody') => {
      const signWith =
        secretOf === 'beta'
          ? 'beta-api-secret-that-is-long-enough'
          : 'a-secret-that-nobody-has-here';
      const body = { ...exampleOf(route), cid };
      const { status, body: text } = await deployment.gateway.service.call('POST', path, body, {
        signWith,
      });
      return { status, text };
    };
    const unknown = await asked('nobodys-key', 'nobody');
    expect(unknown.status).toBe(401);
    expect(await asked('alpha-key', 'beta')).toEqual(unknown);
    expect(await asked('alpha-key', 'nobody')).toEqual(unknown);
    expect(await asked('aggregator-key', 'beta')).toEqual(unknown);
  });
});

/** The names of a route's members, from the document's description of its request. */
function membersOf(route: string): readonly string[] {
  const { endpoint } = documented.find((one) => one.route === route) ?? {};
  const { $ref } = endpoint?.requestBody.content['application/json'].schema ?? {};
  const name = String($ref).split('/').at(-1) ?? '';
  const { properties } = openApiDocument.components.schemas[name] ?? {};
  return Object.keys(Object(properties));
}

/** The document's example request, with the values that the simulated service requires. */
function exampleOf(route: string): Readonly<Record<string, unknown>> {
  const { endpoint } = documented.find((one) => one.route === route) ?? {};
  const { examples = {} } = endpoint?.requestBody.content['application/json'] ?? {};
  const [example] = Object.values(examples);
  const { cid, ...fields } = Object(example?.value);
  if (route.endsWith('/templates/add')) return templateBody();
  if (route.endsWith('/applyBatch')) return { ...batchBody(7_654_321, ['probe']) };
  return fields;
}

/** The example with one naming member; of members that exclude each other, only that one. */
function bodyWith(route: string, name: string, ids: Ids): Readonly<Record<string, unknown>> {
  const example = exampleOf(route);
  const others = name in example ? example : {};
  return { ...others, [name]: ids[name] };
}

/**
 * What an answer reveals: all of it if it is a refusal, otherwise its shape, because each opened session has a new
 * token.
 */
function looks({ status, body, json }: CallResult, ids: Ids): unknown {
  const told = Object.values(ids)
    .filter((id) => typeof id !== 'object')
    .reduce((text: string, id) => text.replaceAll(String(id), 'ID'), body);
  return status < 300 && json?.token !== undefined
    ? { status, members: Object.keys(json) }
    : { status, told };
}
