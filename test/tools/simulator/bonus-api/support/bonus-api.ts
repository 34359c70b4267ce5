import { afterEach, beforeEach } from 'vitest';
import type { BonusMethod } from '../../../../../src/bonuses/method-names.ts';
import type { Clock } from '../../../../../src/domain/clock.ts';
import {
  type BonusApiOptions,
  type SimulatedBonusApi,
  startBonusApi,
} from '../../../../../tools/simulator/bonus-api/bonus-api.ts';
import type { CallResult } from '../../../../../tools/simulator/signed-client.ts';
import { SignedClient } from '../../../../../tools/simulator/signed-client.ts';

export const CID = 'aggregator-key';
export const SECRET = 'service-secret';
export const OTHER_CID = 'alpha-own-key';
export const OTHER_SECRET = 'alpha-own-secret';

/** Unix seconds at which a test's clock starts. */
export const NOW = 1_750_000_000;
export const DAY = 86_400;

export interface Bench {
  readonly api: SimulatedBonusApi;
  /** Signs with the aggregator's secret. */
  readonly client: SignedClient;
  /** A call by the aggregator; `cid` is added. */
  call(method: BonusMethod, fields?: object): Promise<CallResult>;
  /** Moves the API's clock. */
  advance(seconds: number): void;
}

/** A new bonus API for every test, with a clock that stands still. */
export function useBonusApi(options: Partial<BonusApiOptions> = {}): () => Bench {
  let bench: Bench | undefined;
  beforeEach(async () => {
    bench = await startBench(options);
  });
  afterEach(async () => {
    await bench?.client.close();
    await bench?.api.close();
  });
  return () => {
    if (bench === undefined) throw new Error('the bonus API runs during a test only');
    return bench;
  };
}

async function startBench(options: Partial<BonusApiOptions>): Promise<Bench> {
  let seconds = NOW;
  const clock: Clock = { nowMs: () => seconds * 1000, monotonicMs: () => performance.now() };
  const partners = [
    { cid: CID, secrets: [SECRET] },
    { cid: OTHER_CID, secrets: [OTHER_SECRET] },
  ];
  const api = await startBonusApi({ partners, clock, ...options });
  const client = new SignedClient({ baseUrl: api.url, secret: SECRET, timeoutMs: 15_000 });
  return {
    api,
    client,
    call: (method, fields = {}) =>
      client.call('POST', `/bonuses/${method}`, { cid: CID, ...fields }),
    advance: (by) => {
      seconds += by;
    },
  };
}

/** The body of a template that can be issued for ten days from now on. */
export const TEMPLATE = {
  name: 'Bonus freebet',
  type: 'freebet_standart',
  enable: true,
  betCount: 1,
  stage: 1,
  fromTime: NOW,
  toTime: NOW + 10 * DAY,
  daysToUse: 2,
  betAmount: 5,
  maxWin: 4,
  currency: 'USD',
  minSelection: 1,
  maxSelection: 2,
  minOdd: 1,
  maxOdd: 3,
  disciplines: ['csgo'],
};

export const grant = (userId: string, more: object = {}) => ({
  userId,
  currency: 'USD',
  betAmount: 5,
  betCount: 2,
  forceActivated: true,
  ...more,
});
