import type { Bonuses } from '../bonuses/context.ts';
import { BonusReadBack } from '../bonuses/read-back/read-back.ts';
import { Accounts } from '../bonuses/service/account.ts';
import { BonusService } from '../bonuses/service/client.ts';
import { BonusGrants } from '../store/bonuses/grants.ts';
import { BonusIntents } from '../store/bonuses/intents.ts';
import { OpenCreates } from '../store/bonuses/open-creates.ts';
import { BonusOwnership } from '../store/bonuses/ownership.ts';
import { BonusPlayers } from '../store/bonuses/players.ts';
import { BonusWalks } from '../store/bonuses/walks.ts';
import type { Base } from './parts.ts';
import type { Storage } from './storage.ts';

export type BonusParts = ReturnType<typeof createBonusApi>;

/** The service's bonus API, which each operator sees as if it were the only one. */
export function createBonusApi(base: Base, { operatorsDatabase: database }: Storage) {
  const { clock, logger, metrics, configuration } = base;
  const service = new BonusService({
    clock,
    logger,
    settings: () => configuration().gateway.service,
  });
  const bonuses: Bonuses = {
    clock,
    logger,
    configuration,
    accounts: new Accounts(configuration),
    service,
    ownership: new BonusOwnership(database),
    intents: new BonusIntents(database),
    players: new BonusPlayers(database),
  };
  return {
    bonuses,
    readBack: () =>
      new BonusReadBack({
        ...bonuses,
        metrics,
        walks: new BonusWalks(database),
        openCreates: new OpenCreates(database),
        grants: new BonusGrants(database),
        pausedUntilMs: new Map(),
        triedInVain: new Map(),
      }),
    close: () => service.close(),
  };
}
