import { randomUUID } from 'node:crypto';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { type SigningKey, sign, signingKeys } from '../../src/protocol/signature.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const OPEN_MS = 3_000;
const MIN_REQUESTS = 8;
const BREAKER = { errorPercent: 50, minRequests: MIN_REQUESTS, windowMs: 60_000, openMs: OPEN_MS };
/** The two workers and their parent, which delivers the promises. */
const PROCESSES = 3;
const PATIENT = { timeout: 20_000, interval: 20 };

describe('a wallet in trouble, called by two processes', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  let replica: Replica;
  let player: ServicePlayer;
  /** A connection to each of the two processes. */
  let callers: readonly Caller[] = [];

  beforeAll(async () => {
    deployment = await openDeployment({ operators: { alpha: { wallet: { breaker: BREAKER } } } });
    replica = await deployment.replica({ WORKERS: '2' });
    await vi.waitUntil(() => count('gateway.listening') === 2, PATIENT);
    player = await deployment.player(replica.baseUrl);
    callers = [await openCaller(), await openCaller()];
    expect(callers[0]?.pid).not.toBe(callers[1]?.pid);
  });
  afterAll(async () => {
    await Promise.all(callers.map(({ client }) => client.close()));
    await deployment.close();
  });

  it('is left alone by both once one has opened its breaker, and one of them probes (I7)', async () => {
    const [one, other] = bothOf(callers);
    deployment.wallet('alpha').misbehave('place', { kind: 'status', status: 500 });
    for (let call = 0; call < MIN_REQUESTS; call += 1) await one.place();
    await expect.poll(() => states('open'), PATIENT).toBe(PROCESSES);
    const called = calls();
    expect(await other.place()).toMatchObject({ status: 400, body: { code: 100 } });
    expect(calls()).toBe(called);

    deployment.wallet('alpha').behave();
    await expect.poll(() => states('half_open'), PATIENT).toBe(1);
    // The other process does not probe as well.
    expect(await other.place()).toMatchObject({ status: 400, body: { code: 100 } });
    expect(await one.place()).toMatchObject({ status: 200 });
    await expect.poll(() => states('closed'), PATIENT).toBe(PROCESSES);
    expect(await other.place()).toMatchObject({ status: 200 });
    expect(calls()).toBe(called + 2);
  });

  it('is tried by the other one where the first is frozen (I7)', async () => {
    const [one, other] = bothOf(callers);
    const before = states('open');
    deployment.wallet('alpha').misbehave('place', { kind: 'status', status: 500 });
    await vi.waitFor(async () => {
      await one.place();
      expect(states('open')).toBeGreaterThanOrEqual(before + PROCESSES);
    }, PATIENT);
    process.kill(one.pid, 'SIGSTOP');
    try {
      deployment.wallet('alpha').behave();
      await expect.poll(async () => (await other.place()).status, PATIENT).toBe(200);
    } finally {
      process.kill(one.pid, 'SIGCONT');
    }
    await expect.poll(async () => (await one.place()).status, PATIENT).toBe(200);
  });

  /** How often a process has reported this state of its breaker. */
  function states(state: string): number {
    return count('wallet.breaker', (json) => json.class === 'money' && json.state === state);
  }

  function count(msg: string, isIt: (json: Record<string, unknown>) => boolean = () => true) {
    return replica.process.lines.filter(({ json }) => json?.msg === msg && isIt(json)).length;
  }

  function calls(): number {
    return deployment.wallet('alpha').requests.length;
  }

  async function openCaller(): Promise<Caller> {
    const client = new Client(replica.baseUrl, { pipelining: 1 });
    const [key] = signingKeys([SERVICE_SECRET]);
    if (key === undefined) throw new Error('a secret gives a key');
    const place = () => placed(client, player, key);
    const { transactionId } = await place();
    const line = await replica.process.waitForLine(
      ({ json }) => json?.msg === 'callback.handled' && json.transactionId === transactionId,
    );
    return { client, place, pid: Number(line.json?.pid) };
  }
});

interface Caller {
  readonly client: Client;
  /** The process at the other end of its connection. */
  readonly pid: number;
  readonly place: () => ReturnType<typeof placed>;
}

async function placed(client: Client, player: ServicePlayer, key: SigningKey) {
  const transactionId = randomUUID();
  const slip = { transactionId, ...player, amount: '1', coefficient: '2' };
  const body = Buffer.from(placeBody({ ...slip, bonusId: null, bonusTemplateId: null }));
  const answer = await client.request({
    method: 'POST',
    path: '/payment/bet',
    headers: { 'content-type': 'application/json', 'x-sign-jws': sign(body, key) },
    body,
  });
  return { transactionId, status: answer.statusCode, body: await answer.body.json() };
}

function bothOf(callers: readonly Caller[]): readonly [Caller, Caller] {
  const [one, other] = callers;
  if (one === undefined || other === undefined) throw new Error('there are two');
  return [one, other];
}
