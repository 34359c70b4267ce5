import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOperator } from '../../tools/simulator/operator.ts';
import { type Deployment, openDeployment, type Replica } from '../process/support/deployment.ts';

const SECRET = 'alpha-api-secret-that-is-long-enough';

let deployment: Deployment;
let replica: Replica;
beforeAll(async () => {
  deployment = await openDeployment();
  replica = await deployment.replica();
});
afterAll(async () => {
  await replica.process.stop();
  await deployment.close();
});

const callerWith = (secret: string, cid = 'alpha-key') =>
  createOperator({ baseUrl: replica.baseUrl, cid, secret });

/** The log lines of refusals since the last look, as soon as there are this many. */
let looked = 0;
async function refusals(count: number) {
  const lines = () => replica.process.lines.filter(({ json }) => json?.msg === 'operator.refused');
  await expect.poll(() => lines().length).toBeGreaterThanOrEqual(looked + count);
  const found = lines().slice(looked);
  looked += found.length;
  return found;
}

const session = {
  operatorUser: 'ann-of-the-test',
  currency: 'usd',
  operatorToken: 'anns-own-token',
};

it('logs for a refused operator which field was wrong, who sent it and from where (I8)', async () => {
  const [alpha, wrong, nobody] = [
    callerWith(SECRET),
    callerWith('another-secret-that-is-long-enough'),
    callerWith(SECRET, 'nobodys-key'),
  ];
  await alpha.openSession(session);
  await alpha.bet('not-there');
  await wrong.openSession(session);
  await nobody.openSession(session);
  await Promise.all([alpha, wrong, nobody].map((caller) => caller.close()));

  const found = await refusals(3);
  const of = { path: '/operator/sessions', ip: '127.0.0.1' };
  const reason = 'Unknown cid or invalid signature';
  expect(found.map(({ json }) => json)).toMatchObject([
    { ...of, operator: 'alpha', status: 400, code: 5, reason: 'currency: must be one of USD, EUR' },
    { ...of, operator: 'alpha', status: 401, code: 1, reason },
    { ...of, operator: 'unknown', status: 401, code: 1, reason },
  ]);
  for (const { text } of found) expect(text).not.toMatch(/ann|token/);
});

it('logs a loop of refusals a few times a second, with their number', async () => {
  const alpha = callerWith(SECRET);
  const ask = () => alpha.openSession(session);
  await Promise.all(Array.from({ length: 200 }, ask));
  const first = await refusals(5);
  expect(first.length).toBeLessThan(50);
  let leftOut = 0;
  const count = (lines: typeof first) => {
    for (const { json } of lines) leftOut += Number(json?.leftOut);
    return leftOut;
  };
  count(first);
  await expect
    .poll(async () => {
      await ask();
      return count(await refusals(0));
    })
    .toBeGreaterThan(150);
  await alpha.close();
});
