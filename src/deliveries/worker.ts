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
/**
 * The slower duties run every so many sweeps. Gauges are at most 5 s old (docs/reference.md,
 * Metrics), of which ended deliveries are counted 2 s late (`countableUntil`).
 */
const GAUGES_EVERY = 2;
const ORIGINATE_EVERY = 2;
const WAKE_BATCH = 5_000;
const RECOVER_BATCH = 500;
/** An operator's whole backlog is woken at most this often: what it holds may open the breaker again. */
const WAKE_PAUSE_MS = 60_000;
/**
 * If an operator's next delivery stays the same for this many sweeps, Redis hands its drain to no worker. Longer than a
 * wallet call may take.
 */
const UNSERVED_SWEEPS = 8;
/** For so many sweeps it is then drained without Redis. */
const WITHOUT_SWEEPS = 60;
/**
 * Drains further away than this are left to a later sweep: until its time, a delayed drain keeps an earlier one away.
 */
const AHEAD_MS = 2 * SWEEP_MS;

export interface Working extends Draining {
  readonly backlog: Pick<BacklogCounts, 'look'>;
  /** Whether this process takes callbacks as well, whose calls share the breakers with its deliveries. */
  readonly hasLiveCalls: boolean;
}

/** For how many sweeps an operator's next delivery has been the same. */
interface StalledOperator {
  readonly nextAtMs: number;
  readonly sweeps: number;
}

/** Delivers what was promised: sweeps, wakes the scheduler, drains (I4). */
export class DeliveryWorker {
  readonly #draining: Working;
  readonly #scheduler: Scheduler;
  readonly #gauges: DeliveryGauges;
  readonly #drains: Drains;
  readonly #failureLines: FailureLines;
  /** When each operator's backlog was last woken, monotonic. */
  readonly #wokenAtMs = new Map<string, number>();
  #stalledOperators = new Map<string, StalledOperator>();
  /** Operators drained here until the scheduler serves them, with the sweep since which they are. */
  readonly #unserved = new Map<string, number>();
  readonly #passedOver = { originate: new Set<string>(), confirm: new Set<string>() };
  readonly #unlisten: () => void;
  #held = new Set<string>();
  /** Those of them that people keep back, not a breaker. */
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
    // Starts at zero, because an alert treats the absence of this counter as having no workers.
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

  /**
   * The duties that keep every promise even if Redis loses everything and processes die at any
   * moment.
   */
  async #sweep(): Promise<void> {
    // Each on its own: a duty that always fails must not keep the others from running.
    await this.#runDuty('recover', () => this.#recover());
    // Each bet takes some round trips to PostgreSQL: no other operator's deliveries may wait for hundreds of them (I7).
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

  /** The deliveries that nobody asks for: rollbacks of forgotten places, and confirmations. */
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
    // Whoever lets them go on has seen to the wallet: what its breaker did before says nothing any more.
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

  /**
   * Marks attempts that killed processes left in flight as unknown, and makes their `live` deliveries
   * pending.
   */
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

  /** Notes operators whose next delivery does not move although the scheduler has accepted their drains (I4). */
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
    // Without Redis every replica drains what it sees; PostgreSQL keeps two from claiming the same delivery.
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

  /** A half-open breaker needs one call. Live calls go first: the only delivery that waits may be one that always fails. */
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

  /** Runs a duty that the next sweep repeats if it fails; logs that, but not every time. Never rejects. */
  async #runDuty(duty: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#failureLines.next(duty)) return;
      this.#draining.logger.warn({ err: error, duty }, 'deliveries.duty_failed');
    }
  }
}
