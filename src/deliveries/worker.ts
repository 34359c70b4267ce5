import { unreachable } from '../domain/unreachable.ts';
import { FailureLines } from '../lib/failure-lines.ts';
import { Loop } from '../lib/loop.ts';
import { countUnknown } from '../operations/find-bet.ts';
import { deliverySettings } from '../operations/operator-settings.ts';
import type { BacklogCounts } from '../store/deliveries/backlog.ts';
import type { OpenOperator } from '../store/deliveries/queue.ts';
import type { BreakerChange } from '../wallets/wallets.ts';
import { confirmDue } from './confirm.ts';
import { areHeld, areKeptBack, type Draining, Drains } from './drain.ts';
import { DeliveryGauges } from './gauges.ts';
import { originateRollbacks } from './originate.ts';
import { type Drain, Scheduler, type SchedulerOptions } from './scheduler.ts';
import { WithoutFile } from './without-file.ts';

/** A sweep costs one index probe per operator. */
const SWEEP_MS = 1_000;
/** In sweeps. Gauges are at most 5 s old (docs/reference.md, Metrics), including the 2 s of `countableUntil`. */
const GAUGES_EVERY = 2;
const ORIGINATE_EVERY = 2;
const WAKE_BATCH = 5_000;
const RECOVER_BATCH = 500;
/** Minimum between two wakes of an operator's whole backlog: its deliveries may open the breaker again. */
const WAKE_PAUSE_MS = 60_000;
/** With the same next delivery for so long, Redis gives the drain to no worker. Longer than a wallet call may take. */
const UNSERVED_SWEEPS = 8;
/** It is then drained without Redis for this many sweeps. */
const WITHOUT_SWEEPS = 60;
/** Later drains wait for a later sweep: a delayed drain blocks an earlier one until its time. */
const AHEAD_MS = 2 * SWEEP_MS;

export interface Working extends Draining {
  readonly backlog: Pick<BacklogCounts, 'look'>;
  /** Whether this process also takes callbacks, whose calls share the breakers with its deliveries. */
  readonly hasLiveCalls: boolean;
}

/** An operator's next delivery, and for how many sweeps it has been the same. */
interface StalledOperator {
  readonly nextAtMs: number;
  readonly sweeps: number;
}

/** Delivers promises: sweeps, wakes the scheduler, drains (I4). */
export class DeliveryWorker {
  readonly #draining: Working;
  readonly #scheduler: Scheduler;
  readonly #gauges: DeliveryGauges;
  readonly #drains: Drains;
  readonly #failureLines: FailureLines;
  /** When each operator's backlog was last woken, monotonic. */
  readonly #wokenAtMs = new Map<string, number>();
  #stalledOperators = new Map<string, StalledOperator>();
  /** Operators drained here until the scheduler serves them, each with its first such sweep. */
  readonly #unserved = new Map<string, number>();
  readonly #passedOver = { originate: new Set<string>(), confirm: new Set<string>() };
  readonly #unlisten: () => void;
  #held = new Set<string>();
  /** Operators whose deliveries people hold, not a breaker. */
  #keptBack = new Set<string>();
  #heldByPeople: ReadonlySet<string> = new Set();
  readonly #sweeping: Loop;
  #deciding: Promise<void> | undefined;
  #isOriginatingDue = false;
  #counting: Promise<void> | undefined;
  #sweeps = 0;
  #stopping = false;

  constructor(draining: Working, at: Pick<SchedulerOptions, 'redisUrl' | 'databaseId'>) {
    this.#draining = { ...draining, isHeldByPerson: (id) => this.#heldByPeople.has(id) };
    this.#failureLines = new FailureLines(draining.clock);
    this.#drains = new Drains(
      this.#draining,
      (work) => this.#runDuty('drain', work),
      () => this.#stopping,
    );
    // Starts at zero: an alert takes a missing counter for missing workers.
    for (const by of ['scheduler', 'sweep']) draining.metrics.drains.inc({ by }, 0);
    this.#gauges = new DeliveryGauges({
      backlog: draining.backlog,
      store: draining.store,
      metrics: draining.metrics,
      isHeld: (operatorId) => areHeld(this.#draining, operatorId),
      withoutFile: new WithoutFile(draining.logger, (id) => {
        const { operators, invalidOperators } = draining.configuration();
        return operators.has(id) || invalidOperators.has(id);
      }),
    });
    this.#scheduler = new Scheduler({
      ...at,
      logger: draining.logger,
      drain: (operatorId) => {
        draining.metrics.drains.inc({ by: 'scheduler' });
        this.#unserved.delete(operatorId);
        this.#stalledOperators.delete(operatorId);
        return this.#drains.drain(operatorId);
      },
    });
    this.#sweeping = new Loop(async () => {
      await this.#sweep();
      return SWEEP_MS;
    });
    this.#unlisten = draining.wallets.onBreakerChange((change) => {
      if (change.callClass === 'money') this.#follow(change);
    });
  }

  start(): void {
    this.#scheduler.start();
    this.#sweeping.start();
  }

  /** Resolves after the sweep and the slices in progress. */
  async close(): Promise<void> {
    this.#stopping = true;
    this.#unlisten();
    // A sweep begins the other two.
    await this.#sweeping.close();
    await Promise.all([this.#deciding, this.#counting]);
    await Promise.all([this.#scheduler.close(), this.#drains.ended()]);
  }

  /** These duties keep every promise even if Redis loses everything and processes die at any moment. */
  async #sweep(): Promise<void> {
    // Separately: a duty that always fails must not stop the others.
    await this.#runDuty('recover', () => this.#recover());
    // Not awaited: each bet takes some round trips to PostgreSQL, and no other operator's deliveries may wait for
    // hundreds of them (I7).
    if (this.#sweeps % ORIGINATE_EVERY === 0) this.#isOriginatingDue = true;
    this.#deciding ??= this.#decideDue().finally(() => {
      this.#deciding = undefined;
    });
    await this.#runDuty('arm', () => this.#armDue());
    if (this.#sweeps % GAUGES_EVERY === 0) {
      this.#counting ??= this.#runDuty('count', () => this.#gauges.refresh()).finally(() => {
        this.#counting = undefined;
      });
    }
    this.#sweeps += 1;
  }

  /** Deliveries that nobody requests: rollbacks of forgotten places, and confirmations. */
  async #decideDue(): Promise<void> {
    const { originate, confirm } = this.#passedOver;
    if (this.#isOriginatingDue) {
      this.#isOriginatingDue = false;
      await this.#runDuty('originate', () => originateRollbacks(this.#draining, originate));
    }
    await this.#runDuty('confirm', () => confirmDue(this.#draining, confirm));
  }

  async #armDue(): Promise<void> {
    const { store } = this.#draining;
    this.#heldByPeople = new Set(await store.heldByPeople());
    const open = await store.openOperators();
    const held = new Set(
      open.map(({ operatorId }) => operatorId).filter((id) => areHeld(this.#draining, id)),
    );
    await store.countHeld([...held]);
    const keptBack = new Set([...held].filter((id) => areKeptBack(this.#draining, id)));
    // A person who ends a hold has checked the wallet: its breaker's past no longer counts.
    for (const id of this.#keptBack) if (!keptBack.has(id)) this.#wokenAtMs.delete(id);
    this.#keptBack = keptBack;
    const back = [...this.#held].filter((operatorId) => !held.has(operatorId));
    this.#held = held;
    for (const operatorId of back) await this.#returned(operatorId);

    const flowing = open.filter(({ operatorId }) => !held.has(operatorId));
    this.#noteUnserved(flowing.filter(({ nextInMs }) => nextInMs <= 0));
    const soon = flowing.filter(({ nextInMs }) => nextInMs < AHEAD_MS);
    await this.#arm(soon.map(({ operatorId, nextInMs }) => ({ operatorId, inMs: nextInMs })));
  }

  /** Marks attempts in flight of killed processes as unknown, and makes their `live` deliveries pending. */
  async #recover(): Promise<void> {
    const { bets, logger } = this.#draining;
    for (;;) {
      const lapsed = await bets.recoverLapsed(RECOVER_BATCH);
      for (const { transactionId, operatorId, operation } of lapsed) {
        countUnknown(this.#draining, operatorId, operation);
        const facts = { operator: operatorId ?? 'unknown', operation, transactionId };
        const why = 'its process is gone, or PostgreSQL did not take its outcome';
        logger.warn({ ...facts, why }, 'bet.outcome_unknown');
      }
      if (lapsed.length < RECOVER_BATCH) return;
    }
  }

  /** Notes operators whose next delivery does not move although the scheduler accepted their drains (I4). */
  #noteUnserved(due: readonly OpenOperator[]): void {
    for (const [operatorId, since] of this.#unserved) {
      if (this.#sweeps - since >= WITHOUT_SWEEPS) this.#unserved.delete(operatorId);
    }
    const before = this.#stalledOperators;
    const now = new Map<string, StalledOperator>();
    for (const { operatorId, nextAtMs } of due) {
      const last = before.get(operatorId);
      const sweeps = last?.nextAtMs === nextAtMs ? last.sweeps + 1 : 0;
      now.set(operatorId, { nextAtMs, sweeps });
      const { ratePerSecond } = deliverySettings(this.#draining.configuration(), operatorId);
      const pauseSweeps = ratePerSecond === undefined ? 0 : 1 / ratePerSecond;
      if (this.#unserved.has(operatorId) || sweeps < UNSERVED_SWEEPS + pauseSweeps) continue;
      this.#unserved.set(operatorId, this.#sweeps);
      const facts = { operator: operatorId, error: this.#scheduler.trouble };
      const note = 'Redis hands its drain to no worker: this process drains it';
      this.#draining.logger.warn({ ...facts, note }, 'scheduler.unserved');
      this.#scheduler.reopen();
    }
    this.#stalledOperators = now;
  }

  async #arm(drains: readonly Drain[]): Promise<void> {
    if (drains.length === 0) return;
    const isArmed = await this.#scheduler.arm(drains);
    // Without Redis every replica drains what it finds; PostgreSQL prevents double claims.
    for (const { operatorId, inMs } of drains) {
      if (inMs <= 0 && (!isArmed || this.#unserved.has(operatorId))) this.#drains.start(operatorId);
    }
  }

  /** The operator takes calls again: its deliveries need not wait for their back-off. */
  async #returned(operatorId: string): Promise<void> {
    const nowMs = this.#draining.clock.monotonicMs();
    const wokenAtMs = this.#wokenAtMs.get(operatorId) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - wokenAtMs >= WAKE_PAUSE_MS) {
      let woken = WAKE_BATCH;
      while (woken === WAKE_BATCH) woken = await this.#draining.store.wake(operatorId, WAKE_BATCH);
      this.#wokenAtMs.set(operatorId, nowMs);
    }
    await this.#arm([{ operatorId, inMs: 0 }]);
  }

  #follow({ operatorId, state }: BreakerChange): void {
    switch (state) {
      case 'open':
        break;
      case 'half_open':
        this.#halfOpen(operatorId);
        break;
      case 'closed':
        void this.#runDuty('breaker', () => this.#returned(operatorId));
        break;
      default:
        unreachable(state);
    }
  }

  /** A half-open breaker needs one call. Live calls go first: the only waiting delivery may always fail. */
  #halfOpen(operatorId: string): void {
    const operator = this.#draining.configuration().operators.get(operatorId);
    if (operator === undefined) return;
    const probe = () => void this.#runDuty('breaker', () => this.#probe(operatorId));
    if (this.#draining.hasLiveCalls) setTimeout(probe, operator.wallet.breaker.openMs).unref();
    else probe();
  }

  async #probe(operatorId: string): Promise<void> {
    const operator = this.#draining.configuration().operators.get(operatorId);
    const state = this.#draining.wallets.get(operatorId)?.breakerState('money');
    if (operator === undefined || state !== 'half_open' || this.#stopping) return;
    await this.#draining.store.nudge(operatorId);
    await this.#arm([{ operatorId, inMs: 0 }]);
  }

  /** Runs a duty that the next sweep repeats if it fails; not every failure is logged. Never rejects. */
  async #runDuty(duty: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#failureLines.next(duty)) return;
      this.#draining.logger.warn({ err: error, duty }, 'deliveries.duty_failed');
    }
  }
}
