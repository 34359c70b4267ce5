import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import {
  type BonusGateway,
  batchBody,
  SERVICE_CID,
  seen,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

/** Ids of one operator and of the other. */
interface Ids {
  readonly template: number;
  readonly bonus: number;
  readonly user: string;
}

const MISSING = 7_654_321;

let deployment: BonusGateway;
let shared: number;
let own: Readonly<Record<'alpha' | 'beta', Ids>>;
/** The aggregator's ids of all players: no operator may ever see one. */
let userIds: readonly string[];

beforeAll(async () => {
  deployment = await startBonusGateway();
  shared = deployment.api.createTemplate(SERVICE_CID, { name: 'Shared by all' }).id;
  for (const id of ['alpha', 'beta']) {
    await deployment.gateway.reconfigure(id, { bonuses: { sharedTemplates: [shared] } });
  }
  const idsOf = async (operator: SimulatedOperator, user: string): Promise<Ids> => {
    const template = await deployment.template(operator, { name: `Of ${user}` });
    return { template, bonus: await deployment.bonus(operator, template, user), user };
  };
  own = { alpha: await idsOf(deployment.alpha, 'ann'), beta: await idsOf(deployment.beta, 'ben') };
  userIds = (await deployment.sql<{ user_id: string }>('SELECT user_id FROM players')).map(
    (row) => row.user_id,
  );
});
afterAll(() => deployment.close());

const SIDES = ['alpha', 'beta'] as const;
const otherOf = (side: 'alpha' | 'beta') => (side === 'alpha' ? 'beta' : 'alpha');

/** Nothing of the aggregator or the other operator. */
function expectClean(answer: CallResult, side: 'alpha' | 'beta'): void {
  expect(answer.body).not.toContain(SERVICE_CID);
  for (const userId of userIds) expect(answer.body).not.toContain(userId);
  const other = own[otherOf(side)];
  expect(answer.body).not.toContain(other.user);
  expect(answer.body).not.toContain(`${otherOf(side)}-key`);
}

describe.each(SIDES)('%s', (side) => {
  const call = (method: string, fields: object) =>
    (side === 'alpha' ? deployment.alpha : deployment.beta).call(`/bonuses/${method}`, fields);
  const foreign = () => own[otherOf(side)];

  it('reads its own template and the shared one; a foreign one is a missing one (I8)', async () => {
    const mine = await call('template', { templateId: own[side].template });
    expect([mine.status, mine.json?.id, mine.json?.cid]).toEqual([
      200,
      own[side].template,
      `${side}-key`,
    ]);
    const common = await call('template', { templateId: shared });
    expect([common.status, common.json?.id, common.json?.cid]).toEqual([
      200,
      shared,
      `${side}-key`,
    ]);
    const others = await call('template', { templateId: foreign().template });
    const missing = await call('template', { templateId: MISSING });
    expect([others.status, others.json?.code]).toEqual([404, 2]);
    expect(seen(others)).toEqual(seen(missing));
    for (const answer of [mine, common, others, missing]) expectClean(answer, side);
  });

  it('lists its own templates and the shared ones alone (I8)', async () => {
    const listed = await call('templates', {});
    expect(listed.json?.items).toMatchObject([{ id: shared }, { id: own[side].template }]);
    expect(listed.json?.metadata).toMatchObject({ totalItems: 2 });
    expectClean(listed, side);
  });

  it('creates templates that the other does not see (I8)', async () => {
    const made = await call('templates/add', templateBody({ name: `Another of ${side}` }));
    expect(made.status).toBe(200);
    expectClean(made, side);
    const other = side === 'alpha' ? deployment.beta : deployment.alpha;
    const templateId = made.json?.id;
    const seenThere = await other.call('/bonuses/template', { templateId });
    const missing = await other.call('/bonuses/template', { templateId: MISSING });
    expect(seen(seenThere)).toEqual(seen(missing));
    await deployment.sql('DELETE FROM bonus_templates WHERE template_id = $1', [templateId]);
  });

  it('reads its own bonus; a foreign one is a missing one (I8)', async () => {
    const mine = await call('bonus', { bonusId: own[side].bonus });
    expect(mine.json).toMatchObject({
      id: own[side].bonus,
      templateId: own[side].template,
      userId: own[side].user,
      cid: `${side}-key`,
      status: 'active',
    });
    const before = deployment.api.requests.length;
    const others = await call('bonus', { bonusId: foreign().bonus });
    const between = deployment.api.requests.length;
    const missing = await call('bonus', { bonusId: MISSING });
    expect([others.status, others.json?.code]).toEqual([404, 2]);
    expect(seen(others)).toEqual(seen(missing));
    // Each cost one round trip to the service, so the time reveals nothing.
    expect([between - before, deployment.api.requests.length - between]).toEqual([1, 1]);
    for (const answer of [mine, others, missing]) expectClean(answer, side);
  });

  it('lists the bonuses of its own players; another’s player is a missing one (I8)', async () => {
    const mine = await call('player/bonuses', { userId: own[side].user });
    expect(mine.json?.items).toMatchObject([{ id: own[side].bonus, userId: own[side].user }]);
    expect(mine.json?.metadata).toMatchObject({ totalItems: 1, totalPages: 1 });
    const others = await call('player/bonuses', { userId: foreign().user });
    const missing = await call('player/bonuses', { userId: 'nobody-here' });
    expect(seen(others)).toEqual(seen(missing));
    expect(others.json).toMatchObject({ items: [], metadata: { totalItems: 0 } });
    // The aggregator's id of a player must not work as a player id, for either operator.
    for (const userId of userIds) {
      expect(seen(await call('player/bonuses', { userId }))).toEqual(seen(missing));
    }
    expectClean(mine, side);
    expectClean(others, side);
  });

  it('issues its own and shared templates; a foreign one is a missing one (I8)', async () => {
    for (const templateId of [own[side].template, shared]) {
      const issued = await call('bonus/applyBatch', batchBody(templateId, [`more-of-${side}`]));
      expect(issued.status).toBe(200);
      expect(Object.values(issued.json?.items ?? {})).toMatchObject([
        { templateId, userId: `more-of-${side}`, cid: `${side}-key` },
      ]);
      expectClean(issued, side);
    }
    const before = deployment.api.requests.length;
    const others = await call('bonus/applyBatch', batchBody(foreign().template, ['x']));
    const missing = await call('bonus/applyBatch', batchBody(MISSING, ['x']));
    expect([others.status, others.json?.code]).toEqual([404, 2]);
    expect(seen(others)).toEqual(seen(missing));
    expect(deployment.api.requests.length).toBe(before);
    // Not even the player's row shows that it was tried.
    const made = await deployment.sql("SELECT 1 FROM players WHERE operator_user = 'x'");
    expect(made).toEqual([]);
  });

  it('revokes its own bonuses alone; foreign and missing ids are the same entries (I8)', async () => {
    const template = await deployment.template(
      side === 'alpha' ? deployment.alpha : deployment.beta,
      {
        name: `To revoke of ${side}`,
      },
    );
    const operator = side === 'alpha' ? deployment.alpha : deployment.beta;
    const mine = await deployment.bonus(operator, template, `revoked-of-${side}`);
    const strange = [foreign().bonus, MISSING];
    const answer = await call('bonus/revokeBatch', { bonusesIds: [strange[0], mine, strange[1]] });
    expect(answer.status).toBe(200);
    expect(Object.values(answer.json?.items ?? {})).toMatchObject([
      { id: mine, status: 'revoked', userId: `revoked-of-${side}`, cid: `${side}-key` },
    ]);
    expect(answer.json?.errorItems).toEqual(
      strange.map((bonusId) => ({ bonusId, code: 2, message: 'No such bonus' })),
    );
    expectClean(answer, side);
    const [others, missing] = await Promise.all(
      strange.map((bonusId) => call('bonus/revokeBatch', { bonusesIds: [bonusId] })),
    );
    expect(others?.body.replace(String(foreign().bonus), 'ID')).toBe(
      missing?.body.replace(String(MISSING), 'ID'),
    );
    expect(deployment.api.bonus(foreign().bonus)?.status).toBe('active');
    await deployment.sql('DELETE FROM bonus_templates WHERE template_id = $1', [template]);
  });
});

it('takes as long for a foreign as for a missing bonus when the service is slow (I8)', async () => {
  // The gate shows that both wait for the service; a shortcut for either would not stop at it.
  for (const [method, fields] of [
    ['bonus', (bonusId: number) => ({ bonusId })],
    ['bonus/revokeBatch', (bonusId: number) => ({ bonusesIds: [bonusId] })],
  ] as const) {
    const gate = deployment.api.hold('bonus');
    const calls = [own.beta.bonus, MISSING].map((id) =>
      deployment.alpha.call(`/bonuses/${method}`, fields(id)),
    );
    await gate.arrivedTimes(2);
    gate.release();
    const [foreign, missing] = await Promise.all(calls);
    expect(foreign?.status).toBe(missing?.status);
  }
});

it('counts what was denied by operator', async () => {
  const denied = () =>
    deployment.gateway.metric('gateway_bonus_requests_total', {
      operator: 'beta',
      outcome: 'denied',
    });
  const before = await denied();
  await deployment.beta.call('/bonuses/template', { templateId: own.alpha.template });
  await deployment.beta.call('/bonuses/bonus', { bonusId: MISSING });
  await deployment.beta.call('/bonuses/bonus/revokeBatch', { bonusesIds: [own.alpha.bonus] });
  expect((await denied()) - before).toBe(3);
});

describe.each(['template', 'bonus', 'player/bonuses', 'bonus/applyBatch', 'bonus/revokeBatch'])(
  'a foreign id and a missing one for /bonuses/%s',
  (method) => {
    const fieldsOf = (side: 'foreign' | 'missing'): object => {
      const { template, bonus, user } =
        side === 'foreign' ? own.beta : { template: MISSING, bonus: MISSING, user: 'nobody-here' };
      if (method === 'player/bonuses') return { userId: user };
      if (method === 'bonus/applyBatch') return batchBody(template, ['probe']);
      if (method === 'bonus/revokeBatch') return { bonusesIds: [bonus] };
      return method === 'bonus' ? { bonusId: bonus } : { templateId: template };
    };

    it.each([
      ['works', undefined],
      ['fails', { kind: 'status', status: 500 }],
      ['refuses', { kind: 'status', status: 400, body: '{"code":33,"message":"not active"}' }],
      ['has enough', { kind: 'status', status: 429 }],
      ['does not take the signature', { kind: 'status', status: 401 }],
      ['breaks off', { kind: 'reset' }],
    ] as const)('look alike, headers and cost included, where the service %s', async (_, how) => {
      const looks = [];
      for (const side of ['foreign', 'missing'] as const) {
        if (how !== undefined) deployment.api.misbehave('any', how);
        const before = deployment.api.requests.length;
        const { status, body, headers } = await deployment.alpha.call(
          `/bonuses/${method}`,
          fieldsOf(side),
        );
        deployment.api.behave();
        const { date: _date, ...others } = headers;
        const told = body
          .replaceAll(String(own.beta.bonus), 'ID')
          .replaceAll(String(MISSING), 'ID');
        const asked = deployment.api.requests.length - before;
        // `errorItems` returns the id, whose length may differ.
        const length = Number(others['content-length']) - body.length;
        looks.push({ status, told, headers: { ...others, 'content-length': length }, asked });
      }
      expect(looks[0]).toEqual(looks[1]);
      const rows = await deployment.sql("SELECT 1 FROM players WHERE operator_user = 'probe'");
      expect(rows).toEqual([]);
    });
  },
);
