import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ReadingBack, readPage } from '../../../src/bonuses/read-back/reader.ts';
import { Accounts } from '../../../src/bonuses/service/account.ts';
import { BonusService } from '../../../src/bonuses/service/client.ts';
import type { Configuration } from '../../../src/config/schema/schema.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import {
  type SimulatedBonusApi,
  startBonusApi,
} from '../../../tools/simulator/bonus-api/bonus-api.ts';
import { partly } from '../../support/partly.ts';

const AGGREGATOR = { cid: 'aggregator', secrets: ['the-services-secret'] };
const OWN = { cid: 'alpha-own', secrets: ['the-secret-of-alpha-alone'] };

let api: SimulatedBonusApi;
let service: BonusService;
let reading: ReadingBack;
beforeAll(async () => {
  api = await startBonusApi({ partners: [AGGREGATOR, OWN] });
  const gateway = {
    service: { ...AGGREGATOR, bonusApiUrl: api.url, bonusTimeoutMs: 10_000 },
  };
  const operators = new Map([['alpha', { id: 'alpha', bonuses: { upstream: OWN } }]]);
  const configuration = () => partly<Configuration>({ gateway, operators });
  const logger = pino({ level: 'silent' });
  service = new BonusService({
    clock: systemClock,
    logger,
    settings: () => configuration().gateway.service,
  });
  reading = partly<ReadingBack>({
    ...{ clock: systemClock, logger, service, configuration, pausedUntilMs: new Map() },
    accounts: new Accounts(configuration),
  });
});
afterAll(async () => {
  await service.close();
  await api.close();
});

async function read(cid: string, method: 'templates' | 'player/bonuses') {
  const account = reading.accounts.byCid(cid);
  if (account === undefined) throw new Error(`no account ${cid}`);
  const body = JSON.stringify({ cid, ...(method === 'templates' ? {} : { userId: 'ann' }) });
  const { kind } = await readPage(reading, account, method, body);
  return kind;
}

it('an account whose templates cannot be read keeps nobody’s lost batch open, nor another’s creates (I7)', async () => {
  api.misbehave('templates', { kind: 'status', status: 500 }, { calls: 10 });
  for (let n = 0; n < 10; n += 1) expect(await read(OWN.cid, 'templates')).toBe('failed');
  // Its own breaker is open now: it is not asked any more for a while.
  const before = api.requests.length;
  expect(await read(OWN.cid, 'templates')).toBe('failed');
  expect(api.requests.length).toBe(before);

  expect(await read(OWN.cid, 'player/bonuses')).toBe('read');
  expect(await read(AGGREGATOR.cid, 'templates')).toBe('read');
  expect(await read(AGGREGATOR.cid, 'player/bonuses')).toBe('read');
});
