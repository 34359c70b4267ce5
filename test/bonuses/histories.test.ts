import { describe, it, type TestContext } from 'vitest';
import type { BonusMethod } from '../../src/bonuses/method-names.ts';
import type { BonusMisbehaviour } from '../../tools/simulator/bonus-api/misbehaviour.ts';
import { createOperator } from '../../tools/simulator/operator.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { Random } from '../../tools/torture/plan/random.ts';
import {
  type BonusGateway,
  batchBody,
  SERVICE_CID,
  seen,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';
import { PrivateService } from './support/private-service.ts';

const TIMEOUT_MS = 1_000;
const WORKERS = 3;
const STEPS = 20;
const MISSING = 7_654_321;

const SYSTEM_ERROR = '{"code":100,"message":"System error"}';
const FAULTS: readonly BonusMisbehaviour[] = [
  { kind: 'hang' },
  { kind: 'hang', effect: 'applied' },
  { kind: 'reset' },
  { kind: 'reset', effect: 'applied' },
  { kind: 'reset', partial: true, effect: 'applied' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 500, effect: 'applied' },
  { kind: 'status', status: 400, body: SYSTEM_ERROR, effect: 'applied' },
  { kind: 'status', status: 200, body: SYSTEM_ERROR, effect: 'applied' },
  { kind: 'brokenJson' },
  { kind: 'empty' },
];

/** Both operators have players of these names. */
const USERS = ['ann', 'ben', 'carl', 'dora'];

interface Batch {
  readonly templateId: number;
  readonly users: readonly string[];
}

/** An operator that asks at two replicas, beside what it has been told. */
async function operatorIn(deployment: BonusGateway, id: string, other: string, random: Random) {
  const replica = await deployment.gateway.replica();
  const secret = `${id}-api-secret-that-is-long-enough`;
  const clients = [deployment.gateway, replica].map(({ baseUrl }) =>
    createOperator({ baseUrl, cid: `${id}-key`, secret }),
  );
  const service = new PrivateService(`${id}-key`, [SERVICE_CID, `${other}-key`, `Of ${other}`]);
  const asked = new Set<string>();
  const batches: Batch[] = [];
  const call = async (method: BonusMethod, fields: object) => {
    const answer = await random.pick(clients).call(`/bonuses/${method}`, fields);
    service.told(method, answer);
    return answer;
  };
  const create = async (name: string) => {
    asked.add(name);
    const before = service.isTold(name);
    const answer = await call('templates/add', templateBody({ name }));
    service.toldTemplate(name, answer, before);
    return answer;
  };
  const apply = async ({ templateId, users }: Batch) => {
    const answer = await call('bonus/applyBatch', batchBody(templateId, users));
    service.toldBatch(templateId, users, answer);
    return answer;
  };
  const list = async (userId: string) => {
    const known = service.bonusesOf(userId);
    const answer = await call('player/bonuses', { userId });
    service.toldBonuses(userId, answer, known);
    return answer;
  };
  const listTemplates = async () => {
    const known = service.templateIds;
    const answer = await call('templates', {});
    service.toldTemplates(answer, known);
    return answer;
  };
  const issue = async () => {
    const users = USERS.filter(() => random.chance(0.5));
    if (service.templateIds.length === 0 || users.length === 0) return;
    const batch = { templateId: random.pick(service.templateIds), users };
    batches.push(batch);
    await apply(batch);
  };
  const step = () =>
    random.weighted<() => Promise<unknown>>([
      [2, () => create(`Of ${id} ${random.whole(1, 5)}`)],
      [1, () => create(`Of both ${random.whole(1, 2)}`)],
      [4, issue],
      [1, () => list(random.pick(USERS))],
      [1, listTemplates],
    ])();
  const read = (templateId: number) =>
    random.pick(clients).call('/bonuses/template', { templateId });
  return { id, clients, service, asked, batches, create, apply, list, listTemplates, read, step };
}

type Operator = Awaited<ReturnType<typeof operatorIn>>;

async function openScene({ onTestFinished }: TestContext, random: Random) {
  const deployment = await startBonusGateway({
    worker: true,
    service: { bonusTimeoutMs: TIMEOUT_MS },
  });
  onTestFinished(() => deployment.close());
  const operators = [
    await operatorIn(deployment, 'alpha', 'beta', random),
    await operatorIn(deployment, 'beta', 'alpha', random),
  ];
  onTestFinished(async () => {
    for (const { clients } of operators) for (const client of clients) await client.close();
  });
  return { deployment, operators };
}

/** Repeats what was asked for until it is answered, or waits for a person. */
async function settle({ expect }: TestContext, { sql }: BonusGateway, operator: Operator) {
  const isForAPerson = async () =>
    (await sql("SELECT 1 FROM bonus_intents WHERE state = 'open' AND ambiguous")).length > 0;
  const settled = (ask: () => Promise<CallResult>) =>
    expect
      .poll(
        async () => {
          const { status } = await ask();
          return status === 409 && (await isForAPerson()) ? 'for a person' : status;
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBeOneOf([200, 'for a person']);
  for (const name of operator.asked) await settled(() => operator.create(name));
  for (const batch of operator.batches) await settled(() => operator.apply(batch));
}

/** Compares what an operator sees in the end with the service's own books. */
async function compare({ expect }: TestContext, { api, sql }: BonusGateway, operator: Operator) {
  const { id, service, list, listTemplates, read } = operator;
  // After the faults before, calls may be refused for some seconds more.
  const answered = async (ask: () => Promise<CallResult>, wanted: number) => {
    const answers: CallResult[] = [];
    const next = async () => answers[answers.push(await ask()) - 1]?.status;
    await expect.poll(next, { timeout: 60_000, interval: 200 }).toBe(wanted);
    return answers.at(-1);
  };
  expect((await answered(listTemplates, 200))?.json?.items).toMatchObject(
    service.templateIds.map((own) => ({ id: own })),
  );
  for (const user of USERS) {
    const [player] = await sql<{ user_id: string }>(
      'SELECT user_id FROM players WHERE operator_id = $1 AND operator_user = $2',
      [id, user],
    );
    const own = api.bonuses.filter(({ userId }) => userId === player?.user_id);
    const listed = await answered(() => list(user), 200);
    expect(listed?.json?.items).toMatchObject(own.map((bonus) => ({ id: bonus.id })));
  }
  const missing = await answered(() => read(MISSING), 404);
  for (const templateId of api.templates.keys()) {
    if (service.templateIds.includes(templateId)) continue;
    const foreign = await answered(() => read(templateId), 404);
    expect(foreign && seen(foreign)).toEqual(missing && seen(missing));
  }
  expect(service.problems).toEqual([]);
}

describe.concurrent('where the service fails at random, each operator is as if alone (I5, I8)', () => {
  it.for([1, 2])('in history %d', { timeout: 180_000 }, async (seed, context) => {
    const { expect } = context;
    const random = new Random(seed);
    const { deployment, operators } = await openScene(context, random);
    const { api } = deployment;
    const work = async ({ step }: Operator) => {
      for (let at = 0; at < STEPS; at += 1) {
        if (random.chance(0.3)) api.misbehave('any', random.pick(FAULTS), { calls: 1 });
        await step();
      }
    };
    await Promise.all(operators.flatMap((one) => Array.from({ length: WORKERS }, () => work(one))));
    api.behave();
    await Promise.all(operators.map((one) => settle(context, deployment, one)));

    const asked = operators.flatMap((one) => [...one.asked]).toSorted();
    const made = [...api.templates.values()].map(({ name }) => name).toSorted();
    // Also those that wait for a person are made once for each operator at most.
    for (const name of new Set(made)) {
      const count = (names: readonly string[]) => names.filter((one) => one === name).length;
      expect(count(made)).toBeLessThanOrEqual(count(asked));
    }
    for (const operator of operators) await compare(context, deployment, operator);
  });
});
