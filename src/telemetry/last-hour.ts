import type { Clock } from '../domain/clock.ts';
import { Slices } from '../lib/slices.ts';
import type { Family } from './exposition.ts';

/** One operator's counts in one minute; the last item is the current minute. */
export interface OperatorMinute {
  /** Its beginning, ISO 8601 UTC. */
  readonly at: string;
  readonly callbacks: number;
  readonly declined: number;
  readonly unknown: number;
  /** Answered later than the 5 s that the service waits. */
  readonly late: number;
  readonly walletCalls: number;
  readonly walletFailures: number;
  readonly rejected: number;
  /** Mean duration of the wallet's calls, milliseconds; null if there was none. */
  readonly walletMeanMs: number | null;
}

/** One operator's counts over the last minutes. */
export interface OperatorRecently
  extends Pick<
    OperatorMinute,
    'callbacks' | 'unknown' | 'late' | 'walletCalls' | 'walletFailures'
  > {
  /** The period counted, at most about five minutes. */
  readonly seconds: number;
}

type Counted =
  | 'callbacks'
  | 'answered'
  | 'inTime'
  | 'declined'
  | 'unknown'
  | 'walletCalls'
  | 'walletFailures'
  | 'rejected'
  | 'walletSeconds'
  | 'walletTimed';

type Totals = Readonly<Record<Counted, number>>;

interface Snapshot {
  /** Wall-clock time, for people. */
  readonly atMs: number;
  readonly monotonicMs: number;
  readonly totals: ReadonlyMap<string, Totals>;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;
const RECENT_MINUTES = 5;
/** The counters are read at most this often, however many requests need them. */
const FRESH_MS = 2_000;

const NOTHING: Totals = {
  callbacks: 0,
  answered: 0,
  inTime: 0,
  declined: 0,
  unknown: 0,
  walletCalls: 0,
  walletFailures: 0,
  rejected: 0,
  walletSeconds: 0,
  walletTimed: 0,
};

/** Results of a wallet call that are not failures of the wallet. */
const ANSWERED = new Set(['accepted', 'declined']);

/** The gateway's own counters over the last hour, for a first look without Prometheus. */
export class LastHour {
  readonly #clock: Clock;
  readonly #families: () => Promise<readonly Family[]>;
  readonly #onError: (error: unknown) => void;
  readonly #snapshots: Snapshot[] = [];
  #timer: NodeJS.Timeout | undefined;
  #freshest: { readonly sinceMs: number; readonly snapshot: Promise<Snapshot> } | undefined;

  /** @param families reads the present metrics of every process behind the admin port */
  constructor(
    clock: Clock,
    families: () => Promise<readonly Family[]>,
    onError: (error: unknown) => void,
  ) {
    this.#clock = clock;
    this.#families = families;
    this.#onError = onError;
  }

  /** Takes a snapshot every minute until `close`; does not keep the process alive. */
  start(): void {
    void this.#look();
    this.#timer ??= setInterval(() => void this.#look(), MINUTE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** At most an hour, oldest first. */
  async of(operatorId: string): Promise<readonly OperatorMinute[]> {
    const all = [...this.#snapshots, await this.#fresh()];
    return all.slice(1).map((after, at) => {
      // `all[at]` is the snapshot before `after`, since slice(1) dropped the first.
      const before = all[at] ?? after;
      return minuteOf(
        before.atMs,
        before.totals.get(operatorId) ?? NOTHING,
        after.totals.get(operatorId) ?? NOTHING,
      );
    });
  }

  /**
   * By operator, over the last minutes.
   * @returns undefined before the first snapshot; afterwards operators without counts are absent
   */
  async recently(): Promise<ReadonlyMap<string, OperatorRecently> | undefined> {
    const before = this.#snapshots.at(-RECENT_MINUTES) ?? this.#snapshots[0];
    if (before === undefined) return undefined;
    const after = await this.#fresh();
    const seconds = Math.max(0, Math.round((after.monotonicMs - before.monotonicMs) / 1000));
    return new Map(
      [...after.totals].map(([operator, totals]) => {
        const minute = minuteOf(before.atMs, before.totals.get(operator) ?? NOTHING, totals);
        const { callbacks, unknown, late, walletCalls, walletFailures } = minute;
        return [operator, { seconds, callbacks, unknown, late, walletCalls, walletFailures }];
      }),
    );
  }

  /** A snapshot at most `FRESH_MS` old, shared by concurrent callers. */
  #fresh(): Promise<Snapshot> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#freshest === undefined || nowMs - this.#freshest.sinceMs >= FRESH_MS) {
      this.#freshest = { sinceMs: nowMs, snapshot: this.#snapshot() };
    }
    return this.#freshest.snapshot;
  }

  async #look(): Promise<void> {
    try {
      this.#snapshots.push(await this.#snapshot());
      if (this.#snapshots.length > MINUTES) this.#snapshots.shift();
    } catch (error) {
      this.#onError(error);
    }
  }

  async #snapshot(): Promise<Snapshot> {
    const [atMs, monotonicMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()];
    return { atMs, monotonicMs, totals: await totalsIn(await this.#families()) };
  }
}

function minuteOf(atMs: number, before: Totals, after: Totals): OperatorMinute {
  // A counter that decreases has been reset.
  const grown = (what: Counted) => Math.max(0, after[what] - before[what]);
  const timed = grown('walletTimed');
  return {
    at: new Date(atMs).toISOString(),
    callbacks: grown('callbacks'),
    declined: grown('declined'),
    unknown: grown('unknown'),
    late: Math.max(0, grown('answered') - grown('inTime')),
    walletCalls: grown('walletCalls'),
    walletFailures: grown('walletFailures'),
    rejected: grown('rejected'),
    walletMeanMs: timed === 0 ? null : Math.round((grown('walletSeconds') / timed) * 1000),
  };
}

/** The bucket of callbacks answered within 5 s (docs/metrics.md). */
const IN_TIME = ',le="5"}';

/** Which counts a sample adds to, by its name without labels. */
const COUNTS: Readonly<Record<string, (head: string) => readonly Counted[]>> = {
  gateway_callbacks_total: (head) => {
    const outcome = labelOf(head, 'outcome');
    if (outcome === 'declined' || outcome === 'unknown') return ['callbacks', outcome];
    return ['callbacks'];
  },
  gateway_wallet_requests_total: (head) =>
    ANSWERED.has(labelOf(head, 'result') ?? '')
      ? ['walletCalls']
      : ['walletCalls', 'walletFailures'],
  gateway_rejected_total: () => ['rejected'],
  gateway_callback_duration_seconds_count: () => ['answered'],
  gateway_callback_duration_seconds_bucket: (head) => (head.endsWith(IN_TIME) ? ['inTime'] : []),
  gateway_wallet_request_duration_seconds_sum: () => ['walletSeconds'],
  gateway_wallet_request_duration_seconds_count: () => ['walletTimed'],
};

const FAMILIES = new Set(
  Object.keys(COUNTS).map((name) => name.replace(/_(?:sum|count|bucket)$/, '')),
);

async function totalsIn(families: readonly Family[]): Promise<ReadonlyMap<string, Totals>> {
  const totals = new Map<string, Record<Counted, number>>();
  const slices = new Slices();
  for (const family of families.filter(({ name }) => FAMILIES.has(name))) {
    for (const [head, value] of family.samples()) {
      if (slices.isOver()) await slices.next();
      const counts = COUNTS[head.slice(0, head.indexOf('{'))]?.(head) ?? [];
      const operator = counts.length === 0 ? undefined : labelOf(head, 'operator');
      if (operator === undefined) continue;
      const own = totals.get(operator) ?? { ...NOTHING };
      for (const what of counts) own[what] += value;
      totals.set(operator, own);
    }
  }
  return totals;
}

/** A label's value. Operator ids and our fixed words contain nothing that would be escaped. */
function labelOf(head: string, label: string): string | undefined {
  return new RegExp(`[{,]${label}="([^"]*)"`).exec(head)?.[1];
}
