import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareBooks } from '../../tools/simulator/books.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type Bettor, liveBet } from './support/bets.ts';
import { booksAgree } from './support/books.ts';
import { allHome, journalFaults, RETRY_SCALE } from './support/journal.ts';
import { Random } from './support/random.ts';
import { Replicas } from './support/replicas.ts';

const BETS = 250;
const PLAYERS = 40;
/** Bets under way at once; many of them wait for a lease to end, so that each replica has about five. */
const LANES = 20;
/** How many bets have begun when each kill comes. */
const KILLS_AT = [50, 100];
/** How many have begun when all replicas are killed at once. */
const ALL_KILLED_AT = 175;

describe('a gateway that is killed again and again', () => {
  let deployment: Deployment;
  let replicas: Replicas;
  let service: SimulatedService;
  let bettors: Bettor[];

  beforeAll(async () => {
    const operator = { wallet: { breaker: { openMs: 300 } } };
    deployment = await openDeployment({
      gateway: {
        deadline: { totalMs: 1_500, reserveMs: 300 },
        delivery: {
          minBackoffMs: 50,
          maxBackoffMs: 1_000,
          confirmUnknownAfterMs: 300,
          originateRollbackAfterMs: 2_000,
        },
      },
      operators: { alpha: operator, beta: operator },
    });
    replicas = new Replicas(deployment, { LOG_LEVEL: process.env.TEST_LOG ?? 'info' });
    const baseUrl = await replicas.start(2);
    service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: RETRY_SCALE });
    bettors = [];
    for (let index = 0; index < PLAYERS; index += 1) {
      const operatorId = index % 2 === 0 ? 'alpha' : 'beta';
      // Some players have little money and some none, so there are declines however much is answered too late.
      const balance = { 0: '60', 5: '0' }[index % 10] ?? '100000';
      const player = await deployment.player(baseUrl, { operatorId, balance });
      bettors.push({ player, wallet: deployment.wallet(operatorId) });
    }
  });
  afterAll(async () => {
    await service.close();
    await replicas.close();
    await deployment.close();
  });

  it('leaves service and wallets with the same books, every bet and every cent (I3-I6)', {
    timeout: 240_000,
  }, async () => {
    const random = new Random(20_261_121);
    const contradictions: string[] = [];
    let begun = 0;
    // One after another: while a replica starts, the other one carries on alone.
    let killing = Promise.resolve();
    const lane = async () => {
      while (begun < BETS) {
        begun += 1;
        if (KILLS_AT.includes(begun)) killing = killing.then(() => replicas.replaceOldest());
        if (begun === ALL_KILLED_AT) killing = killing.then(() => replicas.replaceAll());
        // Late debits take effect in the middle of everything else.
        if (begun % 25 === 0) for (const wallet of deployment.wallets) wallet.applyLate();
        contradictions.push(...(await liveBet(service, random, random.pick(bettors))));
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    await Promise.all(lanes);
    await killing;
    for (const wallet of deployment.wallets) {
      wallet.behave();
      wallet.applyLate();
    }
    await service.idle();
    await allHome(deployment);

    const books = service.books();
    const wallets = deployment.wallets.map((wallet) => wallet.books());
    expect(compareBooks(books, wallets).differences).toEqual([]);
    await booksAgree(deployment);
    expect(await journalFaults(deployment, service, deployment.wallets)).toEqual([]);
    expect(contradictions).toEqual([]);

    expect(replicas.kills).toBe(KILLS_AT.length + 2);
    expect(books.bets).toHaveLength(BETS);
    const count = (state: string) => books.bets.filter((bet) => bet.state === state).length;
    // The run must have meant something: bets of every kind, and promises to keep.
    for (const state of ['accepted', 'settled', 'rolled_back', 'declined']) {
      expect(count(state), state).toBeGreaterThan(10);
    }
    const delivered = await deployment.query(
      `SELECT 1 FROM deliveries WHERE state = 'delivered' AND attempts > 1`,
    );
    expect(delivered.length).toBeGreaterThan(10);
  });
});
