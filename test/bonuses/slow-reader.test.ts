import { expect, it } from 'vitest';
import { readTemplates } from '../../src/bonuses/read-back/read-templates.ts';
import type { ReadingBack } from '../../src/bonuses/read-back/reader.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { parseJsonObject } from '../../src/protocol/json.ts';
import { BonusIntents } from '../../src/store/bonuses/intents.ts';
import { OpenCreates } from '../../src/store/bonuses/open-creates.ts';
import { BonusOwnership } from '../../src/store/bonuses/ownership.ts';
import { BonusWalks } from '../../src/store/bonuses/walks.ts';
import { openPlainDatabase } from '../support/journal.ts';
import { partly } from '../support/partly.ts';
import { createTemplate, SERVICE_CID, startBonusGateway } from './support/bonus-gateway.ts';

const TIMEOUT_MS = 1_000;

it('a reader that stood still decides nothing of a look that another has taken over (I5)', async ({
  onTestFinished,
}) => {
  const deployment = await startBonusGateway({ service: { bonusTimeoutMs: TIMEOUT_MS } });
  const database = openPlainDatabase(deployment.gateway.databaseUrl);
  onTestFinished(async () => {
    await database.close();
    await deployment.close();
  });
  const { alpha, api, sql } = deployment;
  api.misbehave('templates/add', { kind: 'hang', effect: 'later' }, { calls: 1 });
  expect((await createTemplate(alpha, { name: 'Lost' })).status).toBe(504);
  await sql('UPDATE bonus_intents SET passes = 1, look_at = created_at');

  const walks = new BonusWalks(database);
  const accounts = { cids: [SERVICE_CID], kept: [], shared: [] };
  const others = () => walks.claim(accounts, { everyMs: 60_000, leaseMs: 60_000 });
  /** The page as it was before the service made the template; then this process stands still for a minute. */
  const standStill = async () => {
    api.applyLate();
    await sql(`UPDATE bonus_intents SET created_at = created_at - interval '1 minute',
                                        look_at = look_at - interval '1 minute'`);
    await sql(`UPDATE bonus_walks SET started_at = started_at - interval '1 minute',
                                      lease_until = lease_until - interval '1 minute'`);
    expect(await others()).toMatchObject({ page: 1 });
    const page = '{"items":[],"metadata":{"totalPages":0}}';
    return { kind: 'answered', document: parseJsonObject(Buffer.from(page)) } as const;
  };
  const account = { cid: SERVICE_CID };
  const reading = partly<ReadingBack>({
    ...{ clock: systemClock, walks, openCreates: new OpenCreates(database) },
    ...{ ownership: new BonusOwnership(database), intents: new BonusIntents(database) },
    ...{ pausedUntilMs: new Map(), triedInVain: new Map() },
    configuration: () => ({ gateway: { service: { bonusTimeoutMs: TIMEOUT_MS } } }),
    accounts: { all: () => [account], kept: () => [], sharing: () => [], byCid: () => account },
    logger: { info: () => undefined, debug: () => undefined },
    service: { ask: standStill },
  });
  expect(await readTemplates(reading)).toBe(true);
  const open = await sql("SELECT passes FROM bonus_intents WHERE state = 'open'");
  expect(open).toEqual([{ passes: 1 }]);
  // The other goes on from where it is.
  expect(await others()).toBeUndefined();
});
