import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { AnswerCache, type FinalPlace } from '../../src/redis/answer-cache.ts';
import { partly } from '../support/partly.ts';
import { privateRedis, sharedRedis } from '../support/redis.ts';

const accepted: FinalPlace = {
  userId: 'u',
  amount: '12.10',
  currency: 'USD',
  operatorId: 'alpha',
  status: 200,
  body: '{"transactionId":"t"}',
};

describe('the final answers of places', () => {
  let accelerator: Accelerator;
  let answers: AnswerCache;
  const ttlMs = 60_000;
  beforeAll(async () => {
    const { url } = await sharedRedis();
    const logger = pino({ level: 'silent' });
    accelerator = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
    await accelerator.connected(5_000);
    answers = new AnswerCache(accelerator, 'here', systemClock, () => ttlMs);
  });
  afterAll(() => accelerator.close());

  it('come back as they were given, and only where they were', async () => {
    await answers.remember('given', accepted);
    expect(await answers.find('given')).toEqual(accepted);
    expect(await answers.find('GIVEN')).toBeUndefined();
    expect(await answers.find('never given')).toBeUndefined();
  });

  it('are gone once a rollback fences the bet (I6)', async () => {
    await answers.remember('fenced', accepted);
    await answers.fence('fenced');
    expect(await answers.find('fenced')).toBeUndefined();
  });

  it('do not come back over a fence: a place that ends after its rollback (I6)', async () => {
    await answers.fence('fenced before');
    await answers.remember('fenced before', accepted);
    expect(await answers.find('fenced before')).toBeUndefined();
  });

  it.each([
    '',
    '{',
    '17',
    'null',
    '[]',
    '{"status":200}',
    JSON.stringify({ ...accepted, more: 1 }),
  ])('are a miss where Redis holds %j: the journal knows better', async (text) => {
    await accelerator.set('place:malformed', text, 60_000);
    expect(await answers.find('malformed')).toBeUndefined();
  });

  it('are a miss if the place is in another database, whose fences count nevertheless (I3, I6)', async () => {
    const elsewhere = new AnswerCache(accelerator, 'elsewhere', systemClock, () => ttlMs);
    await elsewhere.remember('elsewhere', accepted);
    expect(await elsewhere.find('elsewhere')).toEqual(accepted);
    expect(await answers.find('elsewhere')).toBeUndefined();
    await answers.fence('elsewhere');
    expect(await elsewhere.find('elsewhere')).toBeUndefined();
  });

  it('are not overtaken by those that wait to be written when a rollback fences them (I6)', async () => {
    const written = answers.remember('fenced meanwhile', accepted);
    await answers.fence('fenced meanwhile');
    await written;
    expect(await answers.find('fenced meanwhile')).toBeUndefined();
  });
});

it('a process that begins takes nothing from before Redis was started again, from its disk perhaps (I6)', async () => {
  const { url } = await sharedRedis();
  const logger = pino({ level: 'silent' });
  const accelerator = new Accelerator({ url, prefix: 'begin:', clock: systemClock, logger });
  onTestFinished(() => accelerator.close());
  await accelerator.connected(5_000);
  const begun = async () => {
    const answers = new AnswerCache(accelerator, 'here', systemClock, () => 60_000);
    onTestFinished(() => answers.close());
    await answers.begin();
    return answers;
  };
  await (await begun()).remember('before', accepted);
  expect(await (await begun()).find('before')).toEqual(accepted);
  await accelerator.set('answers-run', 'an earlier start of the server', 60_000);
  const after = await begun();
  expect(await after.find('before')).toBeUndefined();
  await after.remember('since', accepted);
  expect(await (await begun()).find('since')).toEqual(accepted);
});

it('a fence that Redis could not hear of is written before anything in it is believed again (I6)', async () => {
  let isThere = false;
  const written: string[] = [];
  const accelerator = partly<Accelerator>({
    onReturn: () => undefined,
    serverRun: async () => undefined,
    get: async () => undefined,
    set: async (key: string) => {
      if (isThere) written.push(key);
      return isThere;
    },
  });
  const answers = new AnswerCache(accelerator, 'here', systemClock, () => 60_000);
  await answers.fence('missed');
  isThere = true;
  await expect.poll(() => written).toEqual(['answers-epoch', 'place:missed']);
  answers.close();
});

it('a Redis that returns restored while fences are written gets them again before it is trusted (I6)', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  let comesBack = (): void => undefined;
  const fence = Promise.withResolvers<boolean>();
  const answersOfRedis = [false, true, fence.promise, true];
  const asked: string[] = [];
  const accelerator = partly<Accelerator>({
    onReturn: (told: () => void) => {
      comesBack = told;
    },
    serverRun: async () => undefined,
    set: async (key: string) => {
      asked.push(key);
      return (await answersOfRedis.shift()) ?? true;
    },
  });
  const answers = new AnswerCache(accelerator, 'here', systemClock, () => 60_000);
  await answers.fence('missed');
  // However long the fence takes, nothing begins beside it.
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toEqual(['place:missed', 'answers-epoch', 'place:missed']);
  comesBack();
  fence.resolve(true);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.slice(3)).toEqual(['answers-epoch']);
  answers.close();
});

it.each([
  ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ['has become a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  [
    'misses its replicas',
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
] as const)(
  'Redis %s and refuses the fence of a rollback: no other process takes the answer from it (I6)',
  async (_, [refuse, ...refusing], [take, ...taking]) => {
    const server = await privateRedis();
    onTestFinished(() => server.stop());
    const logger = pino({ level: 'silent' });
    const opened = async () => {
      const options = { url: server.url, prefix: 'test:', clock: systemClock, logger };
      const accelerator = new Accelerator(options);
      await accelerator.connected(5_000);
      const answers = new AnswerCache(accelerator, 'here', systemClock, () => 60_000);
      onTestFinished(() => {
        answers.close();
        accelerator.close();
      });
      return answers;
    };
    const [here, there] = [await opened(), await opened()];
    const admin = new Redis(server.url);
    onTestFinished(() => admin.disconnect());
    await here.remember('rolled back', accepted);
    expect(await there.find('rolled back')).toEqual(accepted);

    await admin.call(refuse, ...refusing);
    await here.fence('rolled back');
    expect(await there.find('rolled back')).toBeUndefined();

    await admin.call(take, ...taking);
    // A new one each time: an answer written in an epoch that ends meanwhile stays a miss.
    let count = 0;
    const next = async () => {
      count += 1;
      await there.remember(`next ${count}`, accepted);
      return await there.find(`next ${count}`);
    };
    await expect.poll(next).toEqual(accepted);
    await expect.poll(() => admin.get('test:place:rolled back')).toBe('-');
    expect(await there.find('rolled back')).toBeUndefined();
  },
);
